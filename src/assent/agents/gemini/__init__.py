"""All that Assent knows of Gemini CLI."""
