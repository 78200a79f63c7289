"""A session on screen: the widget for JupyterLab, with annotation.js and annotation.css."""

from pathlib import Path

FOLDER = Path(__file__).parent


def widget(session):
    """The session as a widget (anywidget).

    The page gets `about`, `shown()` and what came of its last message.
    """
    import anywidget
    import traitlets

    class Annotation(anywidget.AnyWidget):
        _esm = FOLDER / "annotation.js"
        _css = FOLDER / "annotation.css"
        about = traitlets.Dict().tag(sync=True)
        shown = traitlets.Dict().tag(sync=True)

        def take(self, _, message, buffers):
            """Do what the page asks and answer by `shown`.

            message: {"do": "label", "back" or "skip", "place": the shown one, ...}.
            """
            fault = saved = ""
            if message.get("place") != self.shown["place"]:  # a key pressed twice
                fault = "the item had changed meanwhile: nothing was saved for the new one"
            elif message["do"] == "label":
                again = bool(self.shown.get("earlier"))
                said = ("values", "type", "spans", "reason", "seconds")
                fault = session.label(*(message[k] for k in said))
                saved = "" if fault else "saved again" if again else f"saved {session.progress[0]}"
            elif message["do"] == "back":
                session.back()
            else:
                session.skip()
            turn = self.shown["turn"] + 1
            self.shown = session.shown() | {"fault": fault, "saved": saved, "turn": turn}

    begun = session.shown() | {"fault": "", "saved": "", "turn": 0}
    made = Annotation(about=session.about, shown=begun)
    made.on_msg(made.take)
    return made
