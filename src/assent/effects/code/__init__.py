"""Readers of code that a command carries: Python, JavaScript, SQL, awk, sed, jq and others. Runs none of it."""
