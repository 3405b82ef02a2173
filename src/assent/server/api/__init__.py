"""The HTTP API, one module per noun with its endpoints and their schemas; `openapi` joins them."""
