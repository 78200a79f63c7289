"""How a sheet shows its material in a notebook."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

CELL = {
    "text-align": "left",
    "vertical-align": "top",
    "white-space": "pre-wrap",
    "min-width": "3.5em",
}


def finished(coroutine):
    """The result of a coroutine, in a thread of its own: a notebook's loop runs already."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def shown(frame, digits=2):
    """A frame as a table to be read: texts wrapped and escaped, no index."""
    made = frame.reset_index(drop=True).style.hide(axis="index")
    made = made.format(escape="html", precision=digits, na_rep="").set_properties(**CELL)
    return made.set_table_styles([{"selector": "th", "props": "text-align: left"}])
