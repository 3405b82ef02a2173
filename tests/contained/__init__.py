"""Calls that run contained, through the gate and with the real sandbox."""
