"""How notebooks are run: their settings, their execution, the files of a new study.

settings: parameters, profiles, runs. notebooks: their list, their execution, plans of their calls.
template: a new study. commands: make's variables and help. What notebooks write is in `write`,
pages of it in `publish`.
"""

__all__ = """settings notebooks template commands""".split()
