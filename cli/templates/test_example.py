"""The test of the example: it runs the whole workflow in a temporary folder, with a store of its own."""

from pathlib import Path

from runwright import Engine

WORKFLOW = str(Path(__file__).parents[1] / "workflows" / "example.py")


def test_lists_the_pages_of_a_folder(tmp_path: Path) -> None:
    """Every Markdown file is in the index, with its first heading as the title."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "start.md").write_text("# Start here\n")
    index = tmp_path / "index.md"
    with Engine.open(tmp_path / "state") as engine:
        outcome = engine.run(WORKFLOW, {"folder": str(docs), "index": str(index)})
    assert outcome.status == "completed"
    assert index.read_text() == f"# Index\n\n- [Start here]({docs}/start.md)\n"


def test_says_when_there_is_nothing(tmp_path: Path) -> None:
    """A folder without pages ends the run with a sentence and writes nothing."""
    index = tmp_path / "index.md"
    with Engine.open(tmp_path / "state") as engine:
        outcome = engine.run(WORKFLOW, {"folder": str(tmp_path), "index": str(index)})
    assert outcome.status == "completed"
    assert not index.exists()
