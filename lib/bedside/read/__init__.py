"""What is on disk before a run: folders, data, printed numbers, claims, prompts, users' files.

Each module reads files and says what is wrong with them. Nothing here calls a model (`asking`),
keeps a reply (`keep`) or writes an output (`write`). What follows from printed numbers is in
`stats` or, of one paper, in its `implied`.

paths: the repository's folders. sources: released and sample data, as frames. checks: of frames,
and their joins. published: printed numbers. claims: what papers state, and the verdicts that
readings give. findings: what is told of each study. specifications: what robustness notebooks ask,
and their choices. once: frames that take long to compute. prompts: templates. user_files: tables
that users bring; questions: their questions and answers. outside: JSON that others wrote.
surroundings: what the process finds around it.
"""

__all__ = """
paths sources checks published claims findings specifications once prompts user_files questions
outside surroundings
""".split()
