"""``python -m dtnn``: the command line, where no `dtnn` command is on the path."""

from .cli import main

raise SystemExit(main())
