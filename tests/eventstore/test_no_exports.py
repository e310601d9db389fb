"""What is no export is called so, whatever is in it: no file makes the verifier fail."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runwright.eventstore.home import SQLITE_MAGIC
from runwright.eventstore.transfer.errors import ExportUnreadable, NoExport
from runwright.eventstore.verify_export import read_export, verify_export
from support.verified_exports import WHOLE, check


@settings(max_examples=100, deadline=None)
@given(text=st.binary(max_size=300))
def test_no_file_makes_the_verifier_fail(tmp_path_factory: pytest.TempPathFactory, text: bytes) -> None:
    """Bytes that are no export at all are answered with a verdict, never with an exception."""
    assert not check(tmp_path_factory.mktemp("noise"), [text]).ok
    assert not check(tmp_path_factory.mktemp("noise"), [WHOLE[0], text]).ok


@pytest.mark.parametrize("line", [b"[" * 100_000 + b"\n", b'{"a":' * 5000 + b"\n", b"9" * 5000 + b"\n", b'"\\ud800"\n'])
def test_hostile_json_is_a_verdict(tmp_path: Path, line: bytes) -> None:
    """Depth, digits and surrogates beyond Python's own limits."""
    assert not check(tmp_path, [line]).ok
    assert check(tmp_path, [*WHOLE[:2], line]).position == 2


def test_a_file_that_cannot_be_read_is_a_typed_error(tmp_path: Path) -> None:
    """No file, and a folder."""
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(ExportUnreadable):
            verify_export(path)


@pytest.mark.parametrize(
    "text",
    [
        b"a line without an end",
        b"import os\n\nprint(os.getcwd())\n",
        b"{}\n{}\n",
        b'{"specversion":"1.0","type":"run.queued"}\n',
        b"position,stream\r\n1,log\r\n",
        b"\x7fELF\x00\xff" * 40,
    ],
)
def test_what_is_no_export_is_called_so(tmp_path: Path, text: bytes) -> None:
    """A file without any line of an export is not a damaged one; a damaged head line before events is."""
    path = tmp_path / "file"
    path.write_bytes(text)
    verdict = verify_export(path)
    assert (verdict.problem, verdict.position, verdict.events) == ("no_export", None, 0)
    with pytest.raises(NoExport, match="no native export of Runwright"):
        list(read_export(path))
    assert check(tmp_path, [text.partition(b"\n")[0] + b"\n", *WHOLE[1:]]).problem == "head_changed"


def test_a_database_is_told_from_an_export(tmp_path: Path) -> None:
    """The way to a backup is another one."""
    path = tmp_path / "file"
    path.write_bytes(SQLITE_MAGIC + bytes(4000))
    assert "log.sqlite" in verify_export(path).detail
