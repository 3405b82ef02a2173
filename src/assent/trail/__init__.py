"""The audit trail: redacting, appending, verifying and reading back. Decides nothing, and asks nobody."""
