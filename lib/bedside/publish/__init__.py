"""What is made of all notebooks' outputs: manifest, pages, judged items, letters, and their check.

pages: manifest and pages. judged_items: graded replies as explorer and raters show them. letters:
reports to authors. readme: what of the README is made. verification: outputs rebuilt and compared.
"""

__all__ = """pages judged_items letters readme verification""".split()
