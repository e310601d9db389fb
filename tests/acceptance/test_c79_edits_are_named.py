"""C79: whatever is changed in a log or an export of it, verification names the first position that does not hold."""

import random
import shutil
from pathlib import Path

import pytest

from support.audited import behind_the_triggers
from support.command_line import CommandLine
from support.standalone import first_bad_position

INSERT = (
    "INSERT INTO events SELECT 8, 'run/x', 1, type, at, actor, generation, command, data, digest, hash, salt, body"
    " FROM events WHERE position = 9"
)
PUSH = "UPDATE events SET position = -position - 1 WHERE position >= 8"
SETTLE = "UPDATE events SET position = -position WHERE position < 0"

#: A stranger in the chain, or what stands behind a gap that was closed: it may look like an event out of order.
UNFIT = {"event_changed", "events_reordered"}

#: What somebody does with a shell, the first position that does not hold then, and what is wrong there.
EDITS: dict[str, tuple[list[str], int, set[str]]] = {
    "a byte of the facts": (
        ["UPDATE events SET data = substr(data, 1, length(data) - 1) || ' }' WHERE position = 9"], 9, {"event_changed"}
    ),
    "a time": (["UPDATE events SET at = at + 1 WHERE position = 7"], 7, {"event_changed"}),
    "an actor": (["UPDATE events SET actor = 'operator' WHERE position = 6"], 6, {"event_changed"}),
    "a deleted row": (["DELETE FROM events WHERE position = 8"], 8, {"event_missing"}),
    "two swapped rows": (
        [
            "UPDATE events SET position = -8 WHERE position = 8",
            "UPDATE events SET position = 8 WHERE position = 9",
            "UPDATE events SET position = 9 WHERE position = -8",
        ],
        8,
        {"events_reordered"},
    ),
    "an inserted row": ([PUSH, SETTLE, INSERT, "UPDATE head SET position = position + 1"], 8, UNFIT),
    "a renumbered row": (
        ["DELETE FROM events WHERE position = 8", "UPDATE events SET position = -position + 1 WHERE position > 8",
         SETTLE, "UPDATE head SET position = position - 1"],
        8,
        UNFIT,
    ),
}  # fmt: skip


@pytest.mark.parametrize("edit", EDITS)
def test_c79_an_edit_behind_the_triggers_is_named(cli: CommandLine, edit: str) -> None:
    """C79: the clean store and its earlier export hold; the edited one and a later export do not, at that position."""
    cli("run", "--inline", "world.py:four")
    cli("log", "verify")
    kept = cli("log", "head").out.strip()
    cli("log", "export", "--with-values", "-o", "before.jsonl")
    statements, position, problems = EDITS[edit]
    with behind_the_triggers(cli.home) as shell:
        for statement in statements:
            shell.execute(statement)
    verdict = cli("log", "verify", "--json", code=1).document
    assert (verdict["ok"], verdict["position"]) == (False, position)
    assert verdict["problem"] in problems
    assert str(position) in cli("log", "verify", code=1).out
    # What was taken out before still holds by itself, by our verifier and by one that knows the format alone.
    cli("log", "verify", "before.jsonl", "--head", kept)
    assert first_bad_position(Path("before.jsonl")) is None
    exported = cli.ask("log", "export", "--with-values", "-o", "after.jsonl")
    if exported.code == 0:
        assert cli("log", "verify", "after.jsonl", "--json", code=1).document["position"] == position
        assert first_bad_position(Path("after.jsonl")) == position


def test_c79_an_export_is_the_log_and_shows_every_damage(cli: CommandLine, tmp_path: Path) -> None:
    """C79: imported elsewhere the heads are equal; a changed byte, a dropped, swapped or cut line is named."""
    cli("run", "--inline", "world.py:four")
    cli("run", "--inline", "world.py:contracts", "-s", "mode=doubtful", code=5)
    head = cli("log", "head").out
    assert cli("log", "export", "--with-values", "-o", "a.jsonl").out == head
    assert cli("log", "export", "@last", "-o", "part.jsonl").out == "", "a part ends at no head of the log"
    cli("log", "verify", "a.jsonl", "--head", head.strip())
    elsewhere = str(tmp_path / "elsewhere")
    cli("store", "import", "a.jsonl", "--home", elsewhere)
    assert cli("log", "head", "--home", elsewhere).out == head
    whole = Path("a.jsonl").read_bytes()
    lines = whole.splitlines(keepends=True)
    chance = random.Random(79)
    for _ in range(40):
        offset = chance.randrange(len(whole))
        spoilt = bytearray(whole)
        spoilt[offset] ^= 1 << chance.randrange(7)
        Path("b.jsonl").write_bytes(spoilt)
        verdict = cli("log", "verify", "b.jsonl", "--json", code=1).document
        line = whole[:offset].count(b"\n")
        assert verdict["position"] in (line, line + 1) or line == 0, offset
        assert verdict["problem"]
    dropped = [*lines[:5], *lines[6:]]
    swapped = [*lines[:5], lines[6], lines[5], *lines[7:]]
    for spoilt_lines, problem in ((dropped, "event_missing"), (swapped, "events_reordered")):
        Path("b.jsonl").write_bytes(b"".join(spoilt_lines))
        verdict = cli("log", "verify", "b.jsonl", "--json", code=1).document
        assert (verdict["position"], verdict["problem"]) == (5, problem)
    last = len(lines) - 1
    first = lines[0].replace(f'"last":{last}'.encode(), f'"last":{last - 2}'.encode())
    Path("b.jsonl").write_bytes(b"".join([first, *lines[1:-2]]))
    cli("log", "verify", "b.jsonl")
    verdict = cli("log", "verify", "b.jsonl", "--head", head.strip(), "--json", code=1).document
    assert (verdict["position"], verdict["problem"]) == (last - 1, "tail_missing")
    shutil.rmtree(elsewhere)
