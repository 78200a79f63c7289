"""What a sheet reads, and how it runs a coroutine in a notebook."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from bedside import settings
from bedside.rows import Document


def document(profile="sample"):
    """The Document of a sheet: of the profile's models alone, since its tasks are about these."""
    return Document(profile, models=" ".join(settings.profiles()[profile]["models"]))


def finished(coroutine):
    """The result of a coroutine, run in a thread because a notebook's own loop runs already."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
