"""Cancer-Myth, second version by its summary: cures for false presuppositions, and their cost."""
