"""How fast Assent is, beside other gates and bare yardsticks: `make bench`, or `python -m bench --quick` to try it."""
