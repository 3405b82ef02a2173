"""Call → Lowering: what a tool call would do. Reads no host state and judges nothing."""
