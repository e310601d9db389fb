"""L2, A1, A3, N1 to N3, T1 in sessions: `kill -9` right after a commit, and what the next program makes of it."""

import signal
from pathlib import Path

import pytest

from runwright import Engine
from support.killed import ledger
from support.killed_sessions import KEY, Branch, tell
from support.sound import check_sound

#: The event after whose commit the program dies, by the crash point that this is.
GOES_WELL = {
    "L2": "run.queued",
    "boundary": "run.eligible",
    "A1": "run.claimed",
    "A3": "run.started",
    "fence": "node.started",
    "T1": "run.completed",
    "message built": "message.queued",
    "N2": "message.delivered",
    "N3": "branch",
    "acknowledged": "message.sent",
    "turn": "turn.started",
    "turn over": "turn.ended",
}
GOES_WRONG = {
    "N1": "run.failed",
    "message built": "message.queued",
    "N2": "message.delivered",
    "N3": "branch",
    "acknowledged": "message.sent",
    "turn": "turn.started",
}


def play(project: Path, home: Path, dies_after: str, *, breaks: bool) -> tuple[str, str]:
    """Have it die there, tell the story twice more, and answer how the run ended and what the session holds of it."""
    assert tell(home, project, dies_after=dies_after, breaks=breaks) == -signal.SIGKILL
    check_sound(home)
    for _ in range(2):
        assert tell(home, project, breaks=breaks) == 0
    check_sound(home)
    with Engine.open(home) as engine:
        (run,) = engine.query("runs").items
        assert engine.start("sessions.py", {"text": "private"}, key=KEY, session="s1") == run["run_id"]
        assert engine.query("reservations").items == []
        (message,) = engine.query("messages").items
        assert message["state"] == "sent"
        (shown,) = Branch(project / "branch")
        assert shown == message["message"]
        turns = engine.query("turns").items
        assert len(turns) <= 1
        assert not [each for each in turns if each["state"] == "open"]
        ends = [each.type for each in engine.events() if each.type in ("run.completed", "run.failed")]
        assert len(ends) == 1
        return str(run["status"]), str(message["kind"])


@pytest.mark.parametrize("point", GOES_WELL)
def test_s20_a_run_of_a_session_survives_a_kill(project: Path, home: Path, point: str) -> None:
    """S01, S14, S20, S46: the same run, ended once, told of by one message that the branch holds once."""
    assert play(project, home, GOES_WELL[point], breaks=False) == ("completed", "terminal")
    # A compute that was under way when the program died begins again; nothing else does.
    assert set(ledger(project)) == {"first 1"}
    assert ledger(project)["first 1"] <= (2 if point == "fence" else 1)


@pytest.mark.parametrize("point", GOES_WRONG)
def test_s20_a_failed_launch_of_a_session_survives_a_kill(project: Path, home: Path, point: str) -> None:
    """S07, S19, S20: failed once, told of by one message, and no node ran."""
    assert play(project, home, GOES_WRONG[point], breaks=True) == ("failed", "launch_failure")
    assert ledger(project) == {}
