"""C94: no name of a workflow, run, node or file leads out of its folder, and none tells what stands there."""

from pathlib import Path

import pytest

from support.command_line import CommandLine

OUTSIDE = (
    "../x", "../x.py", "/abs", "/abs.py", "a/../../b", "a/../../b.py", "..\\x", "..\\x.py", ".", "..", "", "x\0y",
    "x\0.py", "x" * 5000, "x" * 5000 + ".py", "%2e%2e/x.py", "..∕x.py", "a．．／b", ".py", "-", "~/x.py",  # noqa: RUF001 (on purpose)
)  # fmt: skip


@pytest.mark.parametrize("exists", [False, True])
def test_c94_workflow_names_cannot_leave_the_project(cli: CommandLine, tmp_path: Path, exists: bool) -> None:
    """Refused before any file is read; the answer is the same whether something stands there or not."""
    if exists:
        for name in ("x.py", "b.py"):
            (tmp_path / name).write_text("raise SystemExit('it was read')\n")
    for name in OUTSIDE:
        named = ("--project", str(cli.project), "--")
        failure = cli("check", "--json", *named, name, code=2).document["error"]
        assert failure["code"] in ("workflow_not_found", "usage"), name
        assert "it was read" not in failure["message"]


def test_c94_runs_nodes_and_effects_are_names_only(cli: CommandLine) -> None:
    """An ID is looked up, never joined into a path."""
    Path("tiny.py").write_text(
        "from runwright import Context, Workflow\ntiny = Workflow('tiny')\n"
        "@tiny.compute\ndef only(ctx: Context) -> int:\n    return 1\ntiny.entry(only)\n"
    )
    cli("run", "--inline", "tiny.py")
    run = cli.run_id()
    for name in OUTSIDE:
        for line in (
            ("status",),
            ("show",),
            ("output",),
            ("logs",),
            ("replay",),
            ("events",),
            ("log", "export"),
            ("effect",),
        ):
            words = (*line, "--", name)
            assert cli(*words, code=2).err.startswith("error: "), words
        assert cli("show", "--", run, name, code=2).out == ""
        assert cli("output", "--", run, name, code=2).out == ""
        assert cli("logs", "--", run, name, code=2).out == ""


def test_c94_exports_and_backups_do_not_land_in_the_store(cli: CommandLine) -> None:
    """A target inside the state directory is refused, by whichever way it is written, and nothing is replaced."""
    Path("tiny.py").write_text(
        "from runwright import Context, Workflow\ntiny = Workflow('tiny')\n"
        "@tiny.compute\ndef only(ctx: Context) -> int:\n    return 1\ntiny.entry(only)\n"
    )
    cli("run", "--inline", "tiny.py")
    head = cli("log", "head").out
    for name in ("log.sqlite", "store.id", "runs/../host.lock", "./views.sqlite"):
        cli("log", "export", "-o", str(cli.home / name), code=2)
        cli("store", "backup", str(cli.home / name), code=2)
    assert cli("log", "head").out == head
    assert cli("log", "verify").code == 0
