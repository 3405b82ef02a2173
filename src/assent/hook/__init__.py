"""What an agent program starts before a tool call: the hook, its client in C, and how both are installed."""
