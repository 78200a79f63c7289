"""What a notebook writes: graded replies, tables, figures, and prose on its own screen.

frames: graded replies and calls as files. tables: rows, and their forms for machines. grids,
layouts: their forms for readers. plots: figures. prose: frames of text in a notebook.

What a table says is worked out in the study's `tables` and `scores`. Pages over several notebooks,
and graded replies as explorer and raters show them, are in `publish`; intervals are in `stats`.
"""

__all__ = """frames tables grids layouts plots prose""".split()
