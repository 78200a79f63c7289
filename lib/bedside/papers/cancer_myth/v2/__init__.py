"""Cancer-Myth's second version, from its summary: mitigations and what they cost."""
