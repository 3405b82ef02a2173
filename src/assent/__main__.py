"""`python -m assent`: the command line."""

import sys

from assent.cli.main import main

sys.exit(main())
