"""Everything Assent knows about Factory's Droid."""
