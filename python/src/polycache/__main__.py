"""`python -m polycache` is the command `polycache`."""

import sys

from .command import main

sys.exit(main())
