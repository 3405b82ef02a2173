"""Everything Assent knows about Codex CLI."""
