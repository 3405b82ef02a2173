"""The hook that an agent program starts before a tool call, its client in C, and their installation."""
