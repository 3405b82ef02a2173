"""The words every stage shares. Imports no stage."""
