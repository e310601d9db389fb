"""`python -m benchmarks`: measure, and print each figure as a ratio to the disk's own limit.

The figures and their targets stand in the quality goals of the project: medians of at least five runs, the raw commit
rate measured right before each, peak memory at the end.
"""

import argparse
import cProfile
import json
import pstats
import resource
import statistics
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import engine, hosted, log, processes
from benchmarks.figure import Figure, Measured, run

FIGURES = (
    Figure(
        name="append-1",
        title="appended events, one caller",
        unit="commits/s",
        target=(">=", 0.6),
        measure=log.appends_alone,
    ),
    Figure(
        name="append-64",
        title="appended events, 64 callers",
        unit="commits/s",
        target=(">=", 3.5),
        measure=log.appends_together,
    ),
    Figure(
        name="steps-1",
        title="durable steps, one run of 100",
        unit="commits/s",
        target=(">=", 0.2),
        measure=engine.one_long_run,
    ),
    Figure(
        name="steps-200",
        title="durable steps, 200 runs of 10 at once",
        unit="commits/s",
        target=(">=", 1.5),
        measure=engine.many_runs,
    ),
    Figure(
        name="start-p50",
        title="start acknowledged, p50",
        unit="commits long",
        target=("<=", 2),
        measure=engine.start_p50,
    ),
    Figure(
        name="start-p99",
        title="start acknowledged, p99",
        unit="commits long",
        target=("<=", 6),
        measure=engine.start_p99,
    ),
    Figure(
        name="hosted-start",
        title="hosted: start to first node running, p50",
        unit="ms",
        target=("<=", 25),
        measure=hosted.start_to_first_node,
    ),
    Figure(
        name="hosted-2",
        title="hosted: durable steps, a process for each run, two at once",
        unit="commits/s",
        target=(">=", 0.15),
        measure=hosted.steps_with_two,
    ),
    Figure(
        name="hosted-4",
        title="hosted: the same, four at once",
        unit="commits/s",
        target=(">=", 0.3),
        measure=hosted.steps_with_four,
    ),
    Figure(
        name="recovery",
        title="program start to first new step after kill -9",
        unit="ms",
        target=("<=", 400),
        measure=processes.recovery,
    ),
    Figure(
        name="replay", title="replay, against read and parse", unit="ratio", target=(">=", 0.5), measure=log.replayed
    ),
    Figure(
        name="bytes", title="bytes on disk per step", unit="bytes", target=("<=", 850), measure=engine.bytes_per_step
    ),
    Figure(
        name="growth",
        title="200 runs of 10 with 2,000 finished runs, against empty",
        unit="ratio",
        target=(">=", 0.9),
        measure=engine.growth,
    ),
    Figure(
        name="import",
        title="import of runwright with a workflow, CPU",
        unit="ms",
        target=("<=", 60),
        measure=processes.import_cost,
    ),
    Figure(
        name="version", title="runwright --version, CPU", unit="ms", target=("<=", 120), measure=processes.version_cost
    ),
)


def main() -> int:
    """Measure what was asked for and print it; exit 0 whatever the figures are."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__.partition("\n")[0] if __doc__ else ""
    )
    parser.add_argument(
        "--only", action="append", choices=[figure.name for figure in FIGURES], help="measure this figure; repeatable"
    )
    parser.add_argument("--runs", type=int, default=5, help="runs of each figure (default: 5)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--compare", type=Path, metavar="OLD.json", help="show changes against an earlier --json")
    parser.add_argument("--profile", action="store_true", help="print where the time of the chosen figures goes")
    arguments = parser.parse_args()
    chosen = [figure for figure in FIGURES if not arguments.only or figure.name in arguments.only]
    old = json.loads(arguments.compare.read_text()) if arguments.compare else {}
    if arguments.profile:
        for figure in chosen:
            _profile(figure)
        return 0
    measured = []
    for figure in chosen:
        print(f"measuring {figure.title} …", file=sys.stderr)
        measured.append(run(figure, arguments.runs))
    print(json.dumps(_document(measured), indent=2)) if arguments.json else _print(measured, old)
    return 0


def _document(measured: list[Measured]) -> dict[str, object]:
    return {
        each.figure.name: {
            "title": each.figure.title,
            "unit": each.figure.unit,
            "median": each.median,
            "values": each.values,
            "raw": each.raw,
            "commits_per_second": each.floor,
            "target": list(each.figure.target),
        }
        for each in measured
    } | {"peak_memory_mb": _peak_memory()}


def _print(measured: list[Measured], old: dict[str, dict[str, float]]) -> None:
    table = Table(title="Runwright, against plain sqlite3 commits on this disk", title_justify="left")
    for heading in ("figure", "median", "min … max", "unit", "target", "", *(["before"] if old else [])):
        table.add_column(heading, justify="right" if heading in {"median", "min … max", "before"} else "left")
    for each in measured:
        cells = [
            each.figure.title,
            f"{each.median:,.2f}",
            f"{min(each.values):,.2f} … {max(each.values):,.2f}",
            each.figure.unit,
            "{} {:g}".format(*each.figure.target),
            "kept" if each.meets_target else "missed",
        ]
        table.add_row(
            *cells, *([f"{old[each.figure.name]['median']:,.2f}" if each.figure.name in old else "-"] if old else [])
        )
    console = Console()
    console.print(table)
    floors = [rate for each in measured for rate in each.floor]
    console.print(
        f"commits/s of plain sqlite3: {statistics.median(floors):,.0f} [{min(floors):,.0f} … {max(floors):,.0f}]; "
        f"peak memory {_peak_memory():.0f} MB; medians of {len(measured[0].values)} runs",
    )


def _profile(figure: Figure) -> None:
    profiler = cProfile.Profile()
    profiler.enable()
    run(figure, 1)
    profiler.disable()
    print(f"== {figure.title}")
    pstats.Stats(profiler).sort_stats("tottime").print_stats(25)


def _peak_memory() -> float:
    """The most memory that this process had, in megabytes (kilobytes on Linux, bytes on macOS)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024) if sys.platform == "darwin" else peak / 1024


if __name__ == "__main__":
    sys.exit(main())
