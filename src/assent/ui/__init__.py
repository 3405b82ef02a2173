"""The surfaces: they show and ask, and leave every decision to the gate."""
