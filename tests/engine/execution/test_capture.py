"""The output log: private, bounded, masked, and never a reason to fail."""

import threading
from pathlib import Path

from runwright.engine.execution.capture import OutputLog


def test_lines_carry_time_and_source(tmp_path: Path) -> None:
    """Each line of a text stands under its source."""
    with OutputLog(tmp_path / "output.log", now=lambda: 1_700_000_000_123_000) as log:
        log.line("diff", "one\ntwo")
    lines = (tmp_path / "output.log").read_text().splitlines()
    assert lines == ["2023-11-14T22:13:20.123Z diff: one", "2023-11-14T22:13:20.123Z diff: two"]


def test_the_log_is_bounded_over_its_whole_life(tmp_path: Path) -> None:
    """It says once that it is full, and stays so when it is opened again."""
    path = tmp_path / "output.log"
    for _ in range(2):
        with OutputLog(path, limit=1000) as log:
            for _ in range(100):
                log.line("loud", "x" * 50)
    text = path.read_text()
    assert len(text) < 1200
    assert text.count("the output log is full") == 1


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """Nobody can make the log write elsewhere, and nothing fails for it."""
    (tmp_path / "elsewhere").touch()
    (tmp_path / "output.log").symlink_to(tmp_path / "elsewhere")
    with OutputLog(tmp_path / "output.log") as log:
        log.line("a", "text")
    assert (tmp_path / "elsewhere").read_text() == ""


def test_threads_write_whole_lines(tmp_path: Path) -> None:
    """Lines of several threads do not mix."""
    with OutputLog(tmp_path / "output.log") as log:

        def write() -> None:
            for _ in range(50):
                log.line("t", "x" * 40)

        threads = [threading.Thread(target=write) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    lines = (tmp_path / "output.log").read_text().splitlines()
    assert len(lines) == 200
    assert all(line.endswith(" t: " + "x" * 40) for line in lines)


def test_a_logger_writes_here_and_nowhere_else(tmp_path: Path) -> None:
    """Arguments that do not fit are told, and no error."""
    with OutputLog(tmp_path / "output.log") as log:
        logger = log.logger("node")
        logger.info("hello %s", "you")
        logger.error("%d", "no number")
        try:
            raise ValueError("inside")
        except ValueError:
            logger.exception("caught")
    text = (tmp_path / "output.log").read_text()
    assert "node INFO: hello you" in text
    assert "%d (its arguments do not fit)" in text
    assert "ValueError: inside" in text
