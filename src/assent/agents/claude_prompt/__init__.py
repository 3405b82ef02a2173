"""All that Assent knows of Claude Code."""
