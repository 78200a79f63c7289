"""How notebooks are run: their settings, their execution, the files of a new study.

What one notebook does step by step is `bedside.run`. What notebooks write is in `write`, pages of
it in `publish`.

settings: parameters, profiles, runs. notebooks: their list, their execution. plans: of their calls.
rounds: notebooks that ask in batches. kernels: the processes that run them. template: a new study.
commands: make's variables and help.
"""

__all__ = """settings notebooks plans rounds template commands""".split()
