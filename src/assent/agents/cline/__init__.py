"""Everything Assent knows about Cline CLI."""
