"""Packs that are proved by facts, tried in real repositories."""
