"""All that Assent knows of Codex CLI."""
