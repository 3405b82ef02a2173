"""Everything Assent knows about OpenHarness."""
