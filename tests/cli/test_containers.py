"""A store whose last host ran in another container of this machine, which cannot be looked into from here."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runwright.engine.client.connect import find_host
from support.command_processes import LIMIT, Project, until

#: Python runs it first in each process: a container of its own, as far as its processes and what is recorded can tell.
ELSEWHERE = """\
from runwright.engine import processes

processes._namespace = lambda: "of another container"
"""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A project folder with a workflow whose effect may be repeated."""
    made = Project(tmp_path, Path(__file__).parent / "flows" / "posting.py")
    made.environment["RUNWRIGHT_IDLE_EXIT"] = "60"
    yield made
    made.go()
    made.run("host", "stop")
    made.close()


def asked(project: Project, *line: str) -> Any:
    """The document that a command answers."""
    return json.loads(project.run(*line, "--json").stdout)


def killed_elsewhere(project: Project) -> str:
    """Have a host in another container apply the effect of a run, and kill it there; the run's ID."""
    (project.folder / "elsewhere").mkdir()
    (project.folder / "elsewhere" / "sitecustomize.py").write_text(ELSEWHERE)
    path = os.pathsep.join(filter(None, (str(project.folder / "elsewhere"), os.environ.get("PYTHONPATH"))))
    host = subprocess.Popen(
        [sys.executable, "-m", "runwright.cli.main", "host", "run"],
        cwd=project.folder,
        env={**project.environment, "PYTHONPATH": path},
        stderr=subprocess.DEVNULL,
    )
    try:
        until(lambda: find_host(project.folder / "home") is not None)
        run_id = project.run("start", "posting.py").stdout.strip()
        project.until_first()
        assert [each["state"] for each in asked(project, "effects", run_id)["items"]] == ["applying"]
        (worker,) = asked(project, "events", run_id, "--type", "worker.launched")["items"]
        assert worker["data"]["process"]["namespace"] == "of another container"
    finally:
        os.kill(host.pid, signal.SIGKILL)
        host.wait(LIMIT)
    return run_id


def test_nobody_can_tell_what_became_of_an_effect_there(project: Project) -> None:
    """Its worker may live: the effect is ambiguous, although its contract says that it may be repeated."""
    run_id = killed_elsewhere(project)
    project.go()
    project.run("host", "start")
    until(lambda: asked(project, "status", run_id)["status"] == "ambiguous")
    assert asked(project, "status", run_id)["reason"]["code"] == "effect_ambiguous"


def test_somebody_who_knows_that_the_container_is_gone_says_so(project: Project) -> None:
    """Then the contract decides, as after any other end of a host: the effect is tried again, and the run goes on."""
    run_id = killed_elsewhere(project)
    project.go()
    project.run("host", "start", "--old-host-gone")
    project.run("wait", run_id)
    assert project.run("output", run_id).stdout == "posted\n"
    (effect,) = asked(project, "effects", run_id)["items"]
    assert (effect["state"], effect["applications"]) == ("applied", 2)
