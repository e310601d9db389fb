"""C81: of old runs the private values go, tree by tree; what somebody still needs stays, whoever dies meanwhile."""

from typing import Any

from runwright import AsyncEngine
from support.aged import DIED, die_between
from support.command_line import CommandLine
from support.engine_session import EngineSession, attached
from support.engines import until
from support.sound import check_sound

MARKER = "private-word-of-this-test"
OF_AGE = ("log", "redact", "--older-than", "0s")


async def told(engine: AsyncEngine, run_id: str) -> None:
    """Wait until the message that an end owes stands."""

    async def there() -> bool:
        return (await engine.status(run_id)).presentation.state == "prepared"

    await until(there)


async def in_doubt(engine: AsyncEngine) -> str:
    """A run with an effect of which nobody knows whether it happened."""
    return (await engine.run("world.py:contracts", {"mode": "doubtful"})).run_id


async def ended(engine: AsyncEngine) -> dict[str, str]:
    """The roots of trees in which nothing lives and that nobody waits for, by what they are."""
    plain = (await engine.run("world.py:four", {"mode": MARKER})).run_id
    failed = (await engine.run("world.py:odd", {"mode": "nan"})).run_id
    twice = (await engine.run("world.py:four", {"mode": MARKER})).run_id
    await engine.wait(await engine.restart(twice))
    chain = (await engine.run("asking.py:asking", {})).run_id
    (request,) = await engine.requests(chain)
    await engine.wait((await engine.answer(request.request_id, {"word": "yes"})).run_id)
    settled = await in_doubt(engine)
    await engine.cancel(settled)
    (effect,) = await engine.effects(settled)
    await engine.resolve(effect.effect, "not_done", reason="looked")
    pi = await attached(engine, "heard")
    heard = await engine.start("sessions.py", {"text": MARKER}, session="heard")
    await pi.settle()
    await engine.wait(heard)
    await told(engine, heard)
    assert await pi.receive() == f"terminal:{heard}"
    return {"plain": plain, "failed": failed, "twice": twice, "chain": chain, "settled": settled, "heard": heard}


async def kept(engine: AsyncEngine) -> dict[str, str]:
    """The roots of trees that have to stay whole, by what keeps them."""
    restarted = (await engine.run("world.py:four", {"mode": MARKER})).run_id
    await engine.restart(restarted, drive=False)
    paused = await in_doubt(engine)
    await engine.pause(paused)
    ambiguous = await in_doubt(engine)
    await engine.cancel(ambiguous)
    pi = await attached(engine, "unheard")
    unheard = await engine.start("sessions.py", {"text": MARKER}, session="unheard")
    await pi.settle()
    await engine.wait(unheard)
    await told(engine, unheard)
    return {
        "restarted": restarted,
        "queued": await engine.start("world.py:four", {"mode": MARKER}, drive=False),
        "parked": await in_doubt(engine),
        "paused": paused,
        "question": (await engine.run("asking.py:asking", {})).run_id,
        "ambiguous": ambiguous,
        "unheard": unheard,
    }


def roots(answer: Any) -> list[str]:
    """The roots of the trees that a redaction names."""
    return [each["root"] for each in answer.document["items"]]


async def test_c81_only_what_has_wholly_ended_goes(cli: CommandLine) -> None:
    """Dry-run, killed midway, applied, and again: each tree whole or not at all, and everything else as it was."""
    async with AsyncEngine.open(cli.home) as engine:
        gone, stays = await ended(engine), await kept(engine)
    planned = roots(cli(*OF_AGE, "--dry-run", "--json"))
    assert sorted(planned) == sorted(gone.values())
    assert roots(cli("log", "redact", "--dry-run", "--json")) == [], "no setting says so"
    cli(*OF_AGE, code=2)
    cli(*OF_AGE, gone["plain"], "--reason", "old", code=2)
    assert die_between(cli.home, 2) == DIED
    left = roots(cli(*OF_AGE, "--dry-run", "--json"))
    assert left == planned[2:]
    assert roots(cli(*OF_AGE, "--reason", "old", "--json")) == left
    assert roots(cli(*OF_AGE, "--reason", "old", "--json")) == []
    assert cli("output", gone["plain"], code=2).err
    for run_id in (*gone.values(), *stays.values()):
        cli("show", run_id)
        cli("replay", run_id)
    assert cli("output", stays["restarted"]).out.strip() == "[1, 2, 3]"
    cli("log", "verify")
    cli("projections", "rebuild")
    check_sound(cli.home)
    async with AsyncEngine.open(cli.home) as engine:
        pi = EngineSession(engine, "unheard")
        await pi.attach()
        assert await pi.receive() == f"terminal:{stays['unheard']}"
    assert roots(cli(*OF_AGE, "--reason", "old", "--json")) == [stays["unheard"]]
    check_sound(cli.home)
