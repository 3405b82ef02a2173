"""All that Assent knows of Factory's Droid."""
