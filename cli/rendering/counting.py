"""A bar on stderr for what takes long, and nothing where nobody watches."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from runwright.cli.output import Output


@contextmanager
def counted(out: Output, words: str) -> Iterator[Callable[[int, int], None]]:
    """Lend a function that takes how far something is, and what there is of it."""
    if not out.at_terminal or out.quiet:
        yield lambda _done, _all: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn(words), BarColumn(bar_width=30), MofNCompleteColumn(), TextColumn("events"))
    with Progress(*columns, console=out.console(stderr=True), transient=True) as bar:
        task = bar.add_task(words, total=None)
        yield lambda done, whole: bar.update(task, completed=done, total=whole)
