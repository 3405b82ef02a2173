"""All that Assent knows of Cursor."""
