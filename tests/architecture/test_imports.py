"""Is what nobody needs yet left unimported?"""

import subprocess
import sys


def loaded_by(statement: str) -> set[str]:
    """Run a statement in a fresh interpreter and answer the modules that it loaded."""
    code = f"import sys; before = set(sys.modules); {statement}; print('\\n'.join(set(sys.modules) - before))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return set(done.stdout.split())


def test_importing_runwright_is_light() -> None:
    """`import runwright` loads none of the heavy modules; its names are handed out lazily."""
    heavy = {"sqlalchemy", "asyncio", "rich", "click", "cattrs", "psutil"}
    assert loaded_by("import runwright") & heavy == set()


def test_writing_a_workflow_loads_no_sqlalchemy() -> None:
    """A workflow file needs no SQLAlchemy, no terminal and no host."""
    heavy = {"sqlalchemy", "rich", "click", "psutil", "sqlite3"}
    assert loaded_by("from runwright import Workflow; Workflow('w')") & heavy == set()


def test_asking_a_workflows_code_loads_no_store() -> None:
    """Whatever loads user code for a host, in a child that answers one question, carries no SQL and no terminal."""
    heavy = {"sqlalchemy", "sqlite3", "rich", "click"}
    assert loaded_by("import runwright.engine.embedded.local_code") & heavy == set()


def test_version_is_answered_without_click() -> None:
    """`runwright --version` imports neither click nor anything heavier."""
    statement = (
        "import sys; sys.argv = ['runwright', '--version']; import contextlib, io; from runwright.cli.main import main"
    )
    call = "\nwith contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()): main()\n"
    code = f"before = set(__import__('sys').modules)\n{statement}{call}print(chr(10).join(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert set(done.stdout.split()) & {"click", "rich_click", "rich", "sqlalchemy", "asyncio"} == set()
