"""What is made of all notebooks' outputs: manifest, pages, judged items, letters, and their check.

What one notebook writes is in `write`, and what runs the notebooks in `build`. Explorer, labels and
sheets have rooms above; what they show of a graded reply is `judged_items`.

pages: manifest, pages, how to cite. judged_items: graded replies as explorer and raters show them.
comparison: how models did.
letters: reports to authors. readme: what of README.md and docs/api.md is made. verification:
numbers rebuilt and compared.
"""

__all__ = """pages judged_items comparison letters readme verification""".split()
