"""All that Assent knows of OpenHarness."""
