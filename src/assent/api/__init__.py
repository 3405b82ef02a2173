"""The public API for programs that embed the gate: Gate, Session, guarded functions."""
