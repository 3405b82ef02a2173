"""What commands do, as tables: rows, options, and where rows come from. Data that other stages read."""
