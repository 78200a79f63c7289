"""What a notebook writes: graded replies, tables, figures, and prose on its own screen.

frames: graded replies and calls as files. tables: rows, and their forms for machines. grids,
layouts: their forms for readers. plots: figures. prose: frames of text in a notebook. Pages over
several notebooks are in `publish`.
"""

__all__ = """frames tables grids layouts plots prose""".split()
