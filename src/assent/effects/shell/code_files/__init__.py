"""Files of code that a command runs: finds and reads them."""
