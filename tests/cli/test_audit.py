"""What the audit commands find: an edited row, an edited event, a changed export; and what mends it."""

import sqlite3
from pathlib import Path

from support.command_line import CommandLine


def edit(cli: CommandLine, *statements: str) -> None:
    """Edit the store as somebody with the file could, the triggers out of the way."""
    connection = sqlite3.connect(cli.home / "log.sqlite", isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def test_an_edited_row_is_named_and_mended(cli: CommandLine) -> None:
    """`projections verify` exits 1 and names row, field and both values; `rebuild` mends it."""
    cli("run", "sample", "greet")
    run = cli.run_id()
    edit(cli, f"UPDATE runs SET steps = 99 WHERE run_id = '{run}'", "DELETE FROM visits WHERE path = 'plan'")
    answer = cli("projections", "verify", code=1)
    for words in (run, "steps", "99", "4", "visits", "path=plan"):
        assert words in answer.out
    found = cli("projections", "verify", "runs", "--json", code=1).document["differences"]
    assert [(each["field"], each["live"], each["replayed"]) for each in found] == [("steps", 99, 4)]
    cli("projections", "rebuild")
    assert "agree with the log" in cli("projections", "verify").out


def test_an_edited_event_is_named(cli: CommandLine) -> None:
    """An event changed behind the triggers: `log verify` exits 1 and names its position."""
    cli("run", "sample", "greet")
    (trigger,) = [
        each["sql"]
        for each in _rows(cli, "SELECT name AS sql FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%UPDATE%'")
    ][:1]
    edit(cli, f"DROP TRIGGER {trigger}", "UPDATE events SET at = at + 1 WHERE position = 12")
    answer = cli("log", "verify", code=1)
    assert "event_changed at position 12" in answer.out
    assert cli("log", "verify", "--json", code=1).document["position"] == 12


def test_a_cut_tail_shows_against_a_kept_head(cli: CommandLine) -> None:
    """An export without its last lines holds by itself, and not against the head that was kept."""
    cli("run", "sample", "greet")
    kept = cli("log", "head").out.strip()
    cli("log", "export", "--with-values", "-o", "a.jsonl")
    cli("log", "verify", "a.jsonl", "--head", kept)
    lines = Path("a.jsonl").read_text().splitlines(keepends=True)
    Path("cut.jsonl").write_text("".join(lines[:-2]))
    verdict = cli("log", "verify", "cut.jsonl", "--head", kept, "--json", code=1).document
    assert verdict["problem"] == "tail_missing"
    Path("swapped.jsonl").write_text("".join([*lines[:5], lines[6], lines[5], *lines[7:]]))
    assert cli("log", "verify", "swapped.jsonl", "--json", code=1).document["position"] == 5
    cli("store", "import", "swapped.jsonl", "--home", "other", code=1)
    assert not Path("other/log.sqlite").exists()


def test_an_export_never_lands_in_the_store(cli: CommandLine) -> None:
    """A file of the state directory is no target, by any name; an export is owner-only."""
    cli("run", "sample", "greet")
    for target in (cli.home / "log.sqlite", cli.home / "x.jsonl", cli.home / "runs" / ".." / "x"):
        cli("log", "export", "-o", str(target), code=2)
    Path("link").symlink_to(cli.home)
    cli("log", "export", "-o", "link/log.sqlite", code=2)
    cli("log", "export", "-o", "mine.jsonl")
    assert Path("mine.jsonl").stat().st_mode & 0o777 == 0o600
    assert "hold" in cli("log", "verify").out


def test_redaction_erases_values_and_keeps_facts(cli: CommandLine) -> None:
    """After `redact` no value of the run is anywhere in the state directory, and its facts still read."""
    marker = "private-marker-of-this-test"
    cli("run", "sample", marker)
    run = cli.run_id()
    cli("log", "redact", run, "--dry-run")
    assert marker in cli("output", run).out
    cli("log", "redact", run, code=2)
    cli("log", "redact", run, "--reason", "asked for")
    assert cli("output", run, code=2).err
    for line in (("show", run), ("show", run, "plan", "--values"), ("events", run, "--values"), ("logs", run)):
        assert marker not in cli(*line).out
    for file in cli.home.rglob("*"):
        if file.is_file():
            assert marker.encode() not in file.read_bytes(), file
    assert "hold" in cli("log", "verify").out
    cli("projections", "verify")
    cli("run", "sample", "x", "-s", "mode=doubt", code=5)
    cli("log", "redact", "@last", "--reason", "too early", code=3)


def _rows(cli: CommandLine, query: str) -> list[dict[str, str]]:
    connection = sqlite3.connect(cli.home / "log.sqlite")
    connection.row_factory = sqlite3.Row
    rows = [dict(row) for row in connection.execute(query)]
    connection.close()
    return rows
