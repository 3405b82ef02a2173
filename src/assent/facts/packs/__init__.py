"""The packs that are proved by facts, a module for each: its `proved` returns the effects that the pack covers."""
