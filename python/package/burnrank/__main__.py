"""The command-line tool."""

import sys

from . import _native


def main() -> None:
    """Run the command-line tool with the arguments of the process, and exit."""
    sys.exit(_native.main(["burnrank", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
