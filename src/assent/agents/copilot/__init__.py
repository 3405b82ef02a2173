"""All that Assent knows of Copilot CLI."""
