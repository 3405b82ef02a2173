"""All that Assent knows of opencode."""
