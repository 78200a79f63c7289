"""How a sheet runs a coroutine in a notebook."""

import asyncio
from concurrent.futures import ThreadPoolExecutor


def finished(coroutine):
    """The result of a coroutine, run in a thread because a notebook's own loop runs already."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
