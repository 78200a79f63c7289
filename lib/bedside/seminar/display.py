"""How a sheet runs a coroutine in a notebook."""

import asyncio
from concurrent.futures import ThreadPoolExecutor


def finished(coroutine):
    """The result of a coroutine, in a thread of its own: a notebook's loop runs already."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
