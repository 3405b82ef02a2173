"""Everything Assent knows about Copilot CLI."""
