"""Everything Assent knows about Gemini CLI."""
