"""A host that a run's own step starts: it ends with that run, and whoever starts it is told."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runwright.engine import process_table
from runwright.engine.client.connect import find_host
from runwright.eventstore.home import Home
from runwright.eventstore.lock import holder
from support.command_processes import Project, until

OUTER = '''
"""A step that starts a run of another state directory, and waits."""
import sys
import time

from runwright import Command, Context, JsonObject, Workflow

outer = Workflow("outer")
inner = Workflow("inner")


@outer.shell(recovery="idempotent")
def begin(ctx: Context[JsonObject]) -> Command:
    start = [sys.executable, "-m", "runwright.cli.main", "start", str(ctx.cwd / "flows.py") + ":inner"]
    return Command([*start, "--home", str(ctx.cwd / "other")])


@outer.compute
def rest(ctx: Context[JsonObject]) -> str:
    (ctx.cwd / "begun").write_text(ctx.output(begin).stderr)
    while not (ctx.cwd / "enough").exists():
        time.sleep(0.01)
    return ctx.output(begin).stdout.strip()


@inner.compute
def node(ctx: Context[JsonObject]) -> int:
    while not (ctx.cwd / "go").exists():
        time.sleep(0.01)
    return 1


outer.entry(begin)
outer.then(begin, rest)
inner.entry(node)
'''


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A project with both workflows; no host of either directory is left."""
    (tmp_path / "flows.py").write_text(OUTER)
    (tmp_path / "project").mkdir()
    made = Project(tmp_path / "project", tmp_path / "flows.py")
    made.environment["RUNWRIGHT_IDLE_EXIT"] = "60"
    yield made
    for home in ("home", "other"):
        made.run("host", "stop", "--home", str(made.folder / home))
    made.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only there what left its session is found by descent")
@pytest.mark.parametrize("how", ["ends", "is cancelled"])
def test_a_host_inside_a_run_ends_with_it_and_says_so(project: Project, how: str) -> None:
    """What it had acknowledged goes on with that directory's next host."""
    other = project.folder / "other"
    outer = project.run("start", "flows.py:outer").stdout.strip()
    until((project.folder / "begun").exists)
    pid = holder(Home(other))
    assert pid is not None
    assert find_host(other) is not None
    said = " ".join((project.folder / "begun").read_text().split())
    assert f"This host was started inside run {outer}, and ends with it." in said
    if how == "ends":
        (project.folder / "enough").touch()
        project.run("wait", outer)
    else:
        project.run("cancel", outer)
    until(lambda: (found := process_table.look(pid)) is None or found.ended)
    (project.folder / "go").touch()
    project.run("host", "start", "--home", str(other))
    project.run("wait", "@last", "--home", str(other))


def test_a_host_that_lives_already_is_nothing_of_the_runs(project: Project) -> None:
    """The step then asks that one, and nothing is said."""
    other = str(project.folder / "other")
    project.run("host", "start", "--home", other)
    outer = project.run("start", "flows.py:outer").stdout.strip()
    until((project.folder / "begun").exists)
    assert "inside run" not in (project.folder / "begun").read_text()
    project.run("cancel", outer)
    (project.folder / "go").touch()
    project.run("wait", "@last", "--home", other)
