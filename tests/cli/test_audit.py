"""What the audit commands find: an edited row, an edited event, a changed export; and what mends it."""

import os
import resource
import shlex
import shutil
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
    cli("run", "--inline", "sample", "greet")
    run = cli.run_id()
    edit(cli, f"UPDATE runs SET steps = 99 WHERE run_id = '{run}'", "DELETE FROM visits WHERE path = 'plan'")
    answer = cli("projections", "verify", code=1)
    assert "row_differs at position" in cli("log", "verify", "--deep", code=1).out
    cli("log", "verify")
    for words in (run, "steps", "99", "4", "visits", "path=plan"):
        assert words in answer.out
    found = cli("projections", "verify", "runs", "--json", code=1).document["differences"]
    assert [(each["field"], each["live"], each["replayed"]) for each in found] == [("steps", 99, 4)]
    cli("projections", "rebuild")
    assert "agree with the log" in cli("projections", "verify").out


def test_an_edited_event_is_named(cli: CommandLine) -> None:
    """An event changed behind the triggers: `log verify` exits 1 and names its position."""
    cli("run", "--inline", "sample", "greet")
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
    cli("run", "--inline", "sample", "greet")
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
    cli("run", "--inline", "sample", "greet")
    for target in (cli.home / "log.sqlite", cli.home / "x.jsonl", cli.home / "runs" / ".." / "x"):
        cli("log", "export", "-o", str(target), code=2)
    Path("link").symlink_to(cli.home)
    cli("log", "export", "-o", "link/log.sqlite", code=2)
    cli("log", "export", "-o", "mine.jsonl")
    assert Path("mine.jsonl").stat().st_mode & 0o777 == 0o600
    assert "hold" in cli("log", "verify").out


def test_an_export_takes_the_place_of_files_alone(cli: CommandLine) -> None:
    """A link stays, and its file is replaced; a pipe is written into; a folder is refused by its own name."""
    cli("run", "--inline", "sample", "greet")
    Path("disk").mkdir()
    Path("link").symlink_to("disk/audit.jsonl")
    cli("log", "export", "-o", "link")
    assert Path("link").is_symlink()
    cli("log", "verify", "disk/audit.jsonl")
    os.mkfifo("pipe")
    pipe = os.open("pipe", os.O_RDWR | os.O_NONBLOCK)  # a small export fits into it
    cli("log", "export", "-o", "pipe")
    assert Path("pipe").is_fifo()
    assert os.read(pipe, 2**16) == Path("disk/audit.jsonl").read_bytes()
    os.close(pipe)
    assert "The path disk cannot be used: Is a directory." in cli("log", "export", "-o", "disk", code=2).err
    assert sorted(each.name for each in Path("disk").iterdir()) == ["audit.jsonl"]


def test_a_full_disk_is_called_so_by_who_reads(cli: CommandLine) -> None:
    """A reader's shared memory finds no room, nor does an export: room is what helps, and no other name."""
    cli("run", "--inline", "sample", "greet")
    for name in ("log.sqlite-shm", "log.sqlite-wal"):
        (cli.home / name).unlink(missing_ok=True)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        answers = {"log.sqlite": cli("log", "head", code=4)}
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    if Path("/dev/full").exists():
        answers["full"] = cli("log", "export", "-o", "/dev/full", code=4)
    for name, answer in answers.items():
        assert f"The disk takes no more data for {name}." in answer.err
        assert "Free some space" in answer.err


def test_a_replay_of_what_is_not_there_says_what_is(cli: CommandLine, tmp_path: Path) -> None:
    """Before a run was queued, behind the log's end, and in an export, which has its own runs and no @last."""
    older = cli("run", "--inline", "sample", "a", "--json").document["run_id"]
    newest = cli("run", "--inline", "sample", "b", "--json").document["run_id"]
    whole, part = str(tmp_path / "the whole.jsonl"), str(tmp_path / "part.jsonl")
    cli("log", "export", "-o", whole)
    cli("log", "export", older, "-o", part)
    first = cli("events", newest, "--json", "--limit", "1").document["items"][0]["position"]
    last = int(cli("log", "head").out.partition(":")[0])
    for given in ((), ("--from", whole)):
        cli("replay", newest, "--at", str(first), *given)
        early = cli("replay", newest, "--at", str(first - 1), *given, code=2).err
        assert f"was not there yet at position {first - 1}: it was queued at {first}." in early
        assert f"Give a position from {first} on." in early
        late = cli("replay", newest, "--at", str(last + 1), *given, code=2).err
        assert f"Give a position from 1 to {last}." in late
    refused = cli("replay", "@last", "--from", whole, "--json", code=2).document["error"]
    assert refused["code"] == "not_found"
    assert "@last names a run of the store" in refused["message"]
    assert refused["hint"] == (
        f"It holds 2 runs; `runwright replay {newest} --from {shlex.quote(whole)}` shows the newest."
    )
    assert f"No run {newest} is in {part}." in cli("replay", newest, "--from", part, code=2).err
    assert "No run zzzz is in" in cli("replay", "zzzz", "--from", part, code=2).err


def test_a_file_that_is_no_export_is_called_so(cli: CommandLine, tmp_path: Path) -> None:
    """Whatever takes an export: it is not spoken of as of a damaged one, and nothing was found wrong with the log."""
    cli("run", "--inline", "sample", "a")
    cli("log", "export", "--format", "csv", "-o", str(tmp_path / "events.csv"))
    cli("store", "backup", str(tmp_path / "backup"))
    foreign = sqlite3.connect(tmp_path / "foreign.sqlite")
    foreign.execute("CREATE TABLE a (b)")
    foreign.close()
    home = str(tmp_path / "new")
    for name in ("events.csv", "foreign.sqlite", "backup"):
        path = str(tmp_path / name)
        for line in (("log", "verify", path), ("replay", "aaaa", "--from", path), ("store", "import", path)):
            if (line[0], name) == ("log", "backup"):
                cli(*line)
                continue
            document = cli(*line, "--home", home, "--json", code=1 if line[0] == "log" else 2).document
            assert (document["problem"] if line[0] == "log" else document["error"]["code"]) == "no_export"
            said = cli(*line, "--home", home, code=1 if line[0] == "log" else 2)
            assert "no native export" in said.out + said.err or "is a database" in said.out + said.err
            assert "log export" in said.out + said.err
            assert "head line" not in said.out + said.err
    # And the way that is named for a backup is one.
    (tmp_path / "restored").mkdir(mode=0o700)
    shutil.copy(tmp_path / "backup", tmp_path / "restored" / "log.sqlite")
    assert len(cli("runs", "--home", str(tmp_path / "restored"), "--json").document["items"]) == 1


def test_redaction_erases_values_and_keeps_facts(cli: CommandLine) -> None:
    """After `redact` no value of the run is anywhere in the state directory, and its facts still read."""
    marker = "private-marker-of-this-test"
    cli("run", "--inline", "sample", marker)
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
    cli("run", "--inline", "sample", "x", "-s", "mode=doubt", code=5)
    cli("log", "redact", "@last", "--reason", "too early", code=3)


def _rows(cli: CommandLine, query: str) -> list[dict[str, str]]:
    connection = sqlite3.connect(cli.home / "log.sqlite")
    connection.row_factory = sqlite3.Row
    rows = [dict(row) for row in connection.execute(query)]
    connection.close()
    return rows


def test_an_adopted_store_says_what_waits_in_it(cli: CommandLine) -> None:
    """Nothing, one run by its ID, or how many; and a folder without a store is named by itself."""
    cli("run", "--inline", "sample", "greet")
    expected = ["No run in it is live.", None, "Its 2 live runs wait for: `runwright --home other-2 resume RUN`"]
    for number, words in enumerate(expected):
        if number:
            cli.queue("sample", "greet")
        cli("log", "export", "--with-values", "-o", f"copy-{number}.jsonl")
        cli("store", "import", f"copy-{number}.jsonl", "--home", f"other-{number}")
        said = cli("store", "adopt", "--home", f"other-{number}").err
        assert (words or f"Its live run waits for: runwright --home other-1 resume {cli.run_id()}") in said
    for line in (("log", "verify"), ("log", "head"), ("log", "export"), ("store", "status")):
        assert f"There is no store at {cli.project / 'none'}." in cli(*line, "--home", "none", code=4).err


def test_waiting_to_begin_is_no_time_that_a_run_took(cli: CommandLine) -> None:
    """A queued run took none, in the table, in its facts and after the command that left it so."""
    run_id = cli.queue("sample", "greet", session="s1")
    assert cli("runs").out.splitlines()[-1].split()[-1] == "-"
    assert "so far" not in cli("status", run_id).out
    assert " after " not in cli("resume", run_id, code=5).err
    cli("cancel", run_id)
    assert "took" not in cli("status", run_id).out
    cli("run", "--inline", "sample", "greet")
    assert "took" in cli("status", "@last").out


def test_the_list_of_projections_reads_well(cli: CommandLine) -> None:
    """Each with what it holds, and its fields below it, indented."""
    cli.queue("sample", "greet")
    lines = cli("query").out.splitlines()
    at = lines.index("queue  what may be done with each run now, and why it stands still")
    assert lines[at + 1].startswith("    run_id, session, project, state")
