"""A session on screen: the widget for JupyterLab, with script/ and annotation.css."""

from pathlib import Path

from bedside import BedsideError, choose
from bedside.annotation.labelling import tasks

from .log import ADJUDICATED, RESERVED, Log, named
from .session import Session, grouped, members

FOLDER = Path(__file__).parent
SCRIPT = "elements spans door entrance desk render".split()


def widget(session):
    """The session as a widget (anywidget).

    The page gets `about`, `shown()` and the result of its last message.
    """
    made = _made()
    made.begin(session)
    return made


def box(rows, task, rater="", raters=(), **settings):
    """A widget that asks who labels, and then shows the session of that rater.

    rater: asked for if empty or not a valid name. If the name has labels already, the widget says
    so and asks whether to go on. raters, settings: of `Session`, and of its `Draw` and `Rules`. Any
    fault is a sentence on screen.
    """
    made = _made()

    def ask(name="", sure=False):
        """Open the session of a name, or show the question to ask."""
        shown = {"title": "", "names": [], "name": str(name), "known": None, "fault": ""}
        try:
            how = tasks()[choose(task, tasks(), "task")]
            shown |= {"title": how.title, "names": members(raters)}
            if str(name).strip():
                if named(name) == ADJUDICATED and "opinions" not in settings:
                    raise BedsideError(f"rater {name!r}: {RESERVED}")
                shown["known"] = None if sure else _known(settings.get("folder"), task, name)
                if not shown["known"]:
                    how = grouped(raters=raters, **settings)
                    return made.begin(Session(rows, task, name, **how))
        except BedsideError as e:
            shown["fault"] = str(e)
        made.ask(shown)

    made.answer = ask
    ask(rater)
    return made


def _known(folder, task, name):
    """The contents of a name's file, {rater, labels, refused, since}; None if it is empty."""
    log = Log(folder, task, name)
    records = [r for both in log.both().values() for r in both.values()]
    if not records:
        return None
    return {
        "rater": log.rater,
        "labels": sum(not r["refused"] for r in records),
        "refused": sum(bool(r["refused"]) for r in records),
        "since": min(r["at"] for r in records)[:10],
    }


def _made():
    """A widget without a session yet."""
    import anywidget
    import traitlets

    class Annotation(anywidget.AnyWidget):
        _esm = "\n".join((FOLDER / f"script/{n}.js").read_text("utf-8") for n in SCRIPT)
        _css = FOLDER / "annotation.css"
        about = traitlets.Dict().tag(sync=True)  # empty until the rater is known
        shown = traitlets.Dict().tag(sync=True)
        session = answer = None

        def begin(self, session):
            self.session = session
            with self.hold_sync():
                self.about = session.about
                self.tell()

        def ask(self, shown):
            self.shown = shown | {"saved": "", "turn": self.shown.get("turn", -1) + 1}

        def tell(self, fault="", saved=""):
            turn = self.shown.get("turn", -1) + 1
            self.shown = self.session.shown() | {"fault": fault, "saved": saved, "turn": turn}

        def take(self, _, message, buffers):
            """Do what the page asks, and answer with `shown`.

            message: {"do": "open", "name", "sure"} before there is a session; then {"do": "label",
            "enter", "read", "back" or "skip", "place": the shown one, ...}.
            """
            if message["do"] == "open":
                if not self.session:
                    self.answer(message["name"], message["sure"])
                return
            fault = saved = ""
            if message.get("place") != self.shown["place"]:  # a key pressed twice
                fault = "the item had changed in the meantime; nothing was saved for the new one"
            elif message["do"] == "label":
                again, training = bool(self.shown.get("earlier")), self.session.training
                said = ("values", "type", "spans", "reason", "seconds")
                more = {k: message.get(k, "") for k in ("refused", "source")}
                fault = self.session.label(*(message[k] for k in said), **more)
                if not (fault or training):
                    saved = "saved again" if again else f"saved {self.session.progress[0]}"
            elif message["do"] == "enter":
                fault = self.session.enter(message["agreed"], message["answers"])
            elif message["do"] == "read":
                fault = self.session.read()
            elif message["do"] == "skip":
                fault = self.session.skip()
            else:
                self.session.back()
            self.tell(fault, saved)

    made = Annotation()
    made.on_msg(made.take)
    return made
