"""All that Assent knows of Cline CLI."""
