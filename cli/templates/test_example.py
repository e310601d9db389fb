"""The test of the example: no program runs and no file is written, unless the test says that it is real."""

from pathlib import Path

from runwright import testing

WORKFLOW = str(Path(__file__).parents[1] / "workflows" / "example.py")


def test_lists_the_pages_of_a_folder(tmp_path: Path) -> None:
    """Every Markdown file is in the index, with its first heading as the title; here both effects really happen."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "start.md").write_text("# Start here\n")
    index = tmp_path / "index.md"
    outcome = testing.run(
        WORKFLOW,
        {"folder": str(docs), "index": str(index)},
        effects={"find_files": "real", "write_index": "real"},
    )
    assert outcome.status == "completed", outcome
    assert index.read_text() == f"# Index\n\n- [Start here]({docs}/start.md)\n"


def test_says_when_there_is_nothing(tmp_path: Path) -> None:
    """A folder without pages ends the run with a sentence and writes nothing: `write_index` has no stand-in."""
    outcome = testing.run(WORKFLOW, {"folder": str(tmp_path)}, effects={"find_files": [""]})
    assert outcome.status == "completed", outcome
    assert outcome.path == ("find_files", "read_titles", "nothing_found")


def test_survives_a_crash_anywhere(tmp_path: Path) -> None:
    """Once for each side of each commit, with a crash there: the same end, and the index is never written twice."""
    page = tmp_path / "page.md"
    page.write_text("# A page\n")
    effects = {"find_files": [str(page)], "write_index": ["INDEX.md"]}
    testing.crash_at(WORKFLOW, {"folder": str(tmp_path)}, effects=effects)
