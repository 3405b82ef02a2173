"""The Model Context Protocol: frames, a proxy that gates the calls in them, and its transports. Decides nothing
itself."""
