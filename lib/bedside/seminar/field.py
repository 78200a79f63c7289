"""A field for a student's pseudonym, and a hint for a text without quotation marks."""

from bedside import BedsideError
from bedside.read import paths, surroundings

KEPT = paths.CACHE / "pseudonym"
LAB = "JPY_SESSION_NAME"  # set where somebody has opened a notebook, not where one is built


def name():
    """A text field that has the pseudonym typed last, also after a restart; it is in `value`."""
    import ipywidgets

    box = ipywidgets.Text(value=kept(), description="Pseudonym")
    box.observe(lambda change: keep(change["new"]), "value")
    return box


def kept():
    """The pseudonym that was typed last; "" without one."""
    try:
        return KEPT.read_text(encoding="utf-8") if surroundings.variable(LAB) else ""
    except (OSError, ValueError):
        return ""


def keep(text):
    """Keep a pseudonym for the next start; in a read-only folder it is kept in the field alone."""
    if surroundings.variable(LAB):
        try:
            KEPT.parent.mkdir(parents=True, exist_ok=True)
            paths.write(KEPT, text)
        except (OSError, BedsideError):
            pass


def hint(error):
    """What to do about a name that Python doesn't know."""
    return (
        f"Python doesn't know the name {error.name!r}. If it is a text, write it in quotation"
        f' marks: "{error.name}". If an earlier cell sets it, run that cell first. Then run this'
        " cell again; the sheet goes on."
    )


def hints():
    """In a notebook, give the hint below what Python says of an unknown name."""
    try:
        from IPython import get_ipython
    except ImportError:
        return
    if shell := get_ipython():
        shell.set_custom_exc((NameError,), _told)


def _told(shell, kind, error, trace, tb_offset=None):
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
    print(hint(error))
