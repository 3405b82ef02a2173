"""Everything Assent knows about Cursor."""
