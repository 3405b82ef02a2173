"""Lowering + Facts → Decision: rules, layers, modes, receipts. Reads no host state and asks nobody."""
