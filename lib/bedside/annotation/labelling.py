"""What raters can be asked: the labelling tasks of all studies, and that of own studies."""

import functools
import importlib

from bedside import own
from bedside.publish.judged_items import Task
from bedside.read import paths


@functools.cache
def tasks() -> dict[str, Task]:
    """All labelling tasks by name: those in the studies' rooms `labels`, and own studies' task."""
    rooms = [importlib.import_module(f"bedside.papers.{p}.labels") for p in paths.papers()]
    return {task.name: task for task in [*(t for room in rooms for t in room.TASKS), own.TASK]}
