"""The studies, a package each with modules of the same names; docs/design.md says what is in them.

What one paper needs is in its package, and no study imports another. What two need belongs in the
room of the foundation that has its kind. Text, numbers and prompts are files in data/.
"""
