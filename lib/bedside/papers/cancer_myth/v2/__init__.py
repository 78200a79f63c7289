"""Cancer-Myth, second version: cures against false presuppositions, and what they cost."""
