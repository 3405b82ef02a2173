"""Benchmarks of Assent, compared with other gates and bare programs in the same run: `make bench`."""
