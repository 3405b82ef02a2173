"""Everything Assent knows about opencode."""
