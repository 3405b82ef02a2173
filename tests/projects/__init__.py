"""Ordinary projects and what coding agents do in them: NAME.files are the files of a project, NAME.jsonl the calls."""
