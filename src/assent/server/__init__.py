"""The resident gate server: HTTP API, page and remote channels."""
