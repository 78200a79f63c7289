"""How notebooks are run: their settings, their execution, the files of a new study.

What one notebook does step by step is `bedside.run`. What notebooks write is in `write`, pages of
it in `publish`; what they wait for in batches is in `bulk`.

settings: parameters, profiles, runs. notebooks: their list, their execution, plans of their calls.
kernels: the processes that run them. template: a new study. commands: make's variables and help.
"""

__all__ = """settings notebooks template commands""".split()
