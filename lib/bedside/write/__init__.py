"""What a notebook writes: graded replies, tables, figures, and prose on its own screen.

frames: graded replies and calls as files. results: rows, and how they are shown. tables: what rows
hold, and their files. layouts: tables for readers. charts, plots: figures, and their parts. prose:
frames of text in a notebook.

What a table says is worked out in the study's `scores`. Pages over several notebooks, and graded
replies as explorer and raters show them, are in `publish`; intervals are in `stats`.
"""

__all__ = """frames results tables layouts charts plots prose""".split()
