"""The adapters for Python agent frameworks, each against the released framework with a model that follows a script."""
