"""An engine whose code is asked across a channel: every question and answer is data, and nothing else changes."""

import json
from pathlib import Path

import pytest

from runwright import AsyncEngine, JsonObject, Workflow
from runwright.engine.commands.session import CurrentMessage
from runwright.engine.embedded.catalog import Catalog, Driven
from runwright.engine.embedded.code import Checking, Code, ProgramFacts, Wanted
from runwright.engine.embedded.holder import Holder
from runwright.engine.embedded.in_process import InProcess
from runwright.engine.embedded.launcher import Provisions
from runwright.engine.embedded.local_code import LocalCode
from runwright.engine.embedded.preflight import Surroundings
from runwright.engine.embedded.remote_code import RemoteCode, reply_to
from runwright.engine.errors import (
    ActivationFailed,
    ConflictError,
    InputInvalid,
    RecoveryRequiredError,
    WorkflowInvalid,
    WorkflowNotFound,
)
from runwright.engine.results import Applied
from support.engine_session import attached
from support.engines import until

FLOW = '''
"""A flow in a file."""
from attrs import frozen
from runwright import Context, JsonObject, Workflow

@frozen
class Verdict:
    word: str
    weight: int = 1

flow = Workflow("flow", timeout=lambda ctx: ctx.input["limit"], input=JsonObject)

@flow.action(recovery="manual")
def send(ctx: Context[JsonObject]) -> int:
    raise ConnectionError

@flow.checkpoint(summary="May it go on?", returns=Verdict)
def ask(ctx: Context[JsonObject]) -> None:
    pass

@flow.compute
def tell(ctx: Context[JsonObject]) -> str:
    return f"{ctx.output(send)} {ctx.output(ask).word} {ctx.output(ask).weight}"

@flow.presentation
def say(ctx: Context[JsonObject], output: object) -> str:
    return f"Say {output}."

flow.entry(send)
flow.then(send, ask)
flow.then(ask, tell)
'''


def across(code: Code) -> RemoteCode:
    """Code that is asked over a channel which lets only text through."""

    async def carry(wanted: Wanted, question: JsonObject) -> JsonObject:
        assert wanted.cwd.is_dir()
        reply = await reply_to(code, json.loads(json.dumps(question)))
        answer: JsonObject = json.loads(json.dumps(reply))
        return answer

    return RemoteCode(carry)


class Reloading(InProcess):
    """Carries out what it knows only as data: it loads the program itself, as a worker does."""

    def __init__(self, holder: Holder, catalog: Catalog) -> None:
        super().__init__(holder, catalog, {})
        self._known = catalog
        #: What was handed over, by run.
        self.kept: dict[str, dict[str, str]] = {}

    def provide(self, run_id: str, provisions: Provisions) -> None:
        """As `Launcher.provide`."""
        self.kept.setdefault(run_id, {}).update(provisions.env)

    def hand_on(self, run_id: str, to: str) -> None:
        """As `Launcher.hand_on`."""
        self.kept[to] = dict(self.kept.get(run_id, {}))

    def forget(self, run_id: str) -> None:
        """As `Launcher.forget`."""
        super().forget(run_id)
        self.kept.pop(run_id, None)

    def take(self, run_id: str, program: ProgramFacts) -> None:
        """As `Launcher.take`."""
        assert not isinstance(program, Driven)
        super().take(run_id, self._known.of_reference(program.reference, program.project))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one flow."""
    folder = tmp_path / "project"
    (folder / ".runwright").mkdir(parents=True)
    (folder / "flow.py").write_text(FLOW)
    return folder


def opened(home: Path) -> AsyncEngine:
    """An engine in which both parts are exchanged."""
    holder, catalog = Holder.open(home), Catalog()
    return AsyncEngine(holder, code=across(LocalCode(catalog)), launcher=Reloading(holder, catalog))


async def test_a_run_from_start_to_presentation(tmp_path: Path, project: Path) -> None:
    """It is started, resolved, answered and presented, with each value checked where the code is."""
    async with opened(tmp_path / "home") as engine:
        session = await attached(engine)
        surroundings = Surroundings(cwd=project)
        queued = await engine.queue("flow.py", {"limit": 3600}, session="s1", surroundings=surroundings)
        run_id = queued.value
        assert isinstance(queued, Applied)
        await session.settle()
        assert (await engine.wait(run_id, until="waiting")).status == "ambiguous"
        (effect,) = await engine.effects(run_id)
        with pytest.raises(InputInvalid) as unfit:
            await engine.resolve(effect.effect, "done", result="seven", reason="asked")
        assert (unfit.value.what, unfit.value.path) == ("result", "$")
        await engine.resolve(effect.effect, "done", result=7, reason="asked")
        assert (await engine.wait(run_id, until="waiting")).status == "waiting"
        (request,) = await engine.requests(run_id)
        with pytest.raises(InputInvalid) as unfit:
            await engine.answer(request.request_id, {"word": 7})
        assert (unfit.value.what, unfit.value.path) == ("answer", "$.word")
        answered = await engine.answer(request.request_id, {"word": "yes"})
        assert (await engine.answer(request.request_id, {"word": "yes", "weight": 1})).adopted
        with pytest.raises(ConflictError):
            await engine.answer(request.request_id, {"word": "no"})
        assert (await engine.wait(answered.run_id)).output == "7 yes 1"
        current = await told(engine, "s1")
        assert current.message == f"terminal:{answered.run_id}"
        (message,) = await engine.events(answered.run_id, types=["message.queued"])
        assert "Say 7 yes 1." in str(message.event)


async def told(engine: AsyncEngine, session: str) -> CurrentMessage:
    """Wait for the message that tells how a run ended."""
    found: list[CurrentMessage] = []

    async def there() -> bool:
        current = (await engine.session_view(session)).current
        found[:] = [] if current is None else [current]
        return current is not None and current.kind == "terminal"

    await until(there)
    return found[0]


async def test_refusals_are_the_same_errors(tmp_path: Path, project: Path) -> None:
    """Whatever code refuses is raised by its own class with its own facts, and leaves no trace."""
    (project / "broken.py").write_text("raise RuntimeError('password=hunter2')\n")
    surroundings = Surroundings(cwd=project)
    async with opened(tmp_path / "home") as engine:
        before = engine.reader.head().position
        with pytest.raises(WorkflowNotFound) as missing:
            await engine.start("nothing.py", {}, surroundings=surroundings)
        assert "nothing.py" in missing.value.reference
        with pytest.raises(WorkflowInvalid) as broken:
            await engine.start("broken.py", {}, surroundings=surroundings)
        assert broken.value.problems == ("broken.py:1: loading it raised RuntimeError.",)
        with pytest.raises(ActivationFailed) as failed:
            await engine.start("flow.py", {"unlimited": 1}, surroundings=surroundings)
        assert failed.value.check == "the function of its time limit"
        with pytest.raises(WorkflowNotFound):
            await engine.start(Workflow("object"), {})
        assert engine.reader.head().position == before


async def test_changed_sources_are_judged_by_what_was_saved(tmp_path: Path, project: Path) -> None:
    """The files are named that differ; once they are accepted, the run goes on with them."""
    async with opened(tmp_path / "home") as engine:
        run_id = await engine.start("flow.py", {"limit": 3600}, surroundings=Surroundings(cwd=project))
        await engine.wait(run_id, until="waiting")
        (effect,) = await engine.effects(run_id)
        await engine.pause(run_id)
        await engine.resolve(effect.effect, "done", result=7, reason="asked")
        (project / "flow.py").write_text(FLOW + "\n# changed\n")
        with pytest.raises(RecoveryRequiredError) as changed:
            await engine.resume(run_id)
        assert (changed.value.code, changed.value.evidence["files"]) == ("source_changed", ["flow.py"])
        await engine.resume(run_id, accept_source=True)
        assert (await engine.wait(run_id, until="waiting")).status == "waiting"


async def test_checking_names_every_fault(project: Path) -> None:
    """Where one stands, what it is and how it is mended; a sound workflow is answered whole, its input checked."""
    code = across(LocalCode(Catalog()))
    (project / "faulty.py").write_text("from runwright import Workflow\nfaulty = Workflow('faulty')\n")
    (project / "broken.py").write_text("1 +\n")

    def wanted(reference: str) -> Wanted:
        return Wanted(reference=reference, project=project, cwd=project)

    faulty = await code.check(Checking(wanted=wanted("faulty.py")))
    assert (faulty.workflow, faulty.program) == ("faulty", None)
    assert {each.code for each in faulty.problems} == {"entry_missing"}
    broken = await code.check(Checking(wanted=wanted("broken.py")))
    assert [(each.file, each.line) for each in broken.problems] == [("broken.py", 1)]
    sound = await code.check(Checking(wanted=wanted("flow.py"), with_input=True), {})
    assert sound.program is not None
    assert sound.program.definition == (await code.load(wanted("flow.py"))).definition
    with pytest.raises(InputInvalid):
        await code.check(Checking(wanted=wanted("flow.py"), with_input=True), "no object")


async def test_what_was_handed_over_stays_with_its_run(tmp_path: Path, project: Path) -> None:
    """A refused start leaves nothing, a repeat hands over anew, a child has its parent's, and an end drops it."""
    secret = Provisions(env={"TOKEN": "private-one"})
    surroundings = Surroundings(cwd=project, pass_env=("TOKEN",))
    holder, catalog = Holder.open(tmp_path / "home"), Catalog()
    launcher = Reloading(holder, catalog)
    async with AsyncEngine(holder, code=across(LocalCode(catalog)), launcher=launcher) as engine:

        async def queue(given: JsonObject, provisions: Provisions) -> str:
            queued = await engine.queue("flow.py", given, key="k", surroundings=surroundings, provisions=provisions)
            return queued.value

        with pytest.raises(ActivationFailed):
            await queue({"unlimited": 1}, secret)
        assert launcher.kept == {}
        run_id = await queue({"limit": 3600}, secret)
        assert launcher.kept == {run_id: {"TOKEN": "private-one"}}
        assert await queue({"limit": 3600}, Provisions(env={"TOKEN": "two"})) == run_id
        assert launcher.kept == {run_id: {"TOKEN": "two"}}
        await engine.wait(run_id, until="waiting")
        (effect,) = await engine.effects(run_id)
        await engine.resolve(effect.effect, "done", result=7, reason="asked")
        await engine.wait(run_id, until="waiting")
        (request,) = await engine.requests(run_id)
        child = (await engine.answer(request.request_id, {"word": "yes"}, drive=False)).run_id
        assert launcher.kept == {child: {"TOKEN": "two"}}
        await engine.cancel(child)
        assert launcher.kept == {}
    assert all(b"private-one" not in file.read_bytes() for file in (tmp_path / "home").rglob("*") if file.is_file())


@pytest.mark.parametrize("nonsense", [{}, {"reply": {"type": "nothing"}}, {"reply": None, "refusal": 7}])
async def test_an_answer_that_is_none_is_refused(project: Path, nonsense: JsonObject) -> None:
    """User code may have had its hands in the process that answers: whatever it says, the host says what failed."""

    async def carry(_wanted: Wanted, _question: JsonObject) -> JsonObject:
        return nonsense

    with pytest.raises(ActivationFailed):
        await RemoteCode(carry).load(Wanted(reference="flow.py", project=project, cwd=project))
