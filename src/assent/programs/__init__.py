"""The effects of commands as tables: rows, options, and their sources. Data that other stages read."""
