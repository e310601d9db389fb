"""The entry point: answers ``--version`` at once and hands everything else to the application."""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: What stands behind ``runwright``; the process's own arguments by default.

    Returns:
        The exit code.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if "--version" in given and set(given) <= {"--version", "--json"}:
        from runwright import __version__

        sys.stdout.write(f'{{"version": "{__version__}"}}\n' if "--json" in given else f"runwright {__version__}\n")
        return 0
    # Everything behind this line may take its time to import; the version may not (page 09).
    from runwright.cli.application import run

    return run(given)


if __name__ == "__main__":
    sys.exit(main())
