"""Whose line it is: what Python prints has a speaker, and what comes through a descriptor those who may have been."""

from pathlib import Path

from runwright.engine.execution.capture import OutputLog
from runwright.engine.execution.speaking import current_speaker, speakers_at_work, speaking


def test_a_line_that_comes_late_is_that_of_whoever_spoke_last(tmp_path: Path) -> None:
    """Between two nodes, and after the last one, it is kept under the one before; at work, those who are have it."""
    log = OutputLog(tmp_path / "output.log")
    with log:
        with speaking("run", "first", log):
            (first,) = speakers_at_work()
            assert first is current_speaker()
            with speaking("run", "beside", log):
                assert [each.path for each in speakers_at_work()] == ["first", "beside"]
            assert speakers_at_work() == [first]
        assert current_speaker() is None
        assert speakers_at_work() == [first]
        with speaking("run", "second", log):
            assert [each.path for each in speakers_at_work()] == ["second"]
    (last,) = speakers_at_work()
    last.line("from a child")
    assert "second: from a child\n" in (tmp_path / "output.log").read_text()


def test_a_line_after_the_end_leaves_no_file_open(tmp_path: Path) -> None:
    """It opens the closed log for itself alone, whether there was a line before or not."""
    for name in ("spoken", "silent"):
        log = OutputLog(tmp_path / name)
        if name == "spoken":
            log.line("a", "one")
        log.close()
        before = open_files()
        log.line("a", "two")
        assert open_files() == before
        assert "a: two\n" in (tmp_path / name).read_text()


def open_files() -> int:
    """How many files this process has open."""
    return len(list(Path("/dev/fd").iterdir()))
