"""`python -m assent`: the command line."""

import sys

from assent.ui.cli import main

sys.exit(main())
