"""The studies, a package each with the same rooms; docs/design.md says what is in them."""
