"""The HTTP API, by noun. Each module has its endpoints, with what they take and give; `openapi` puts them together."""
