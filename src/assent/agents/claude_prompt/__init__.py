"""Everything Assent knows about Claude Code."""
