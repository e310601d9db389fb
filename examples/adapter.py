"""An adapter: it stands beside an agent and is the coordinator of its session. `docs/guides/adapters.md` explains it.

    python adapter.py HOME WORKFLOW ANSWER...

starts a workflow in a session of a made-up agent, whose model hands in one ANSWER after another (JSON where it reads as
such, else text), and prints what the session hears until the workflow has ended. A model that has no answer left says
so in its turn, and is reminded twice. The exit code is 0 where the workflow completed. Put your own agent in the place
of `Agent`.
"""

import asyncio
import json
import sys
import uuid
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from runwright.engine.client import AsyncClient
from runwright.engine.errors import AnswerRejected, ConflictError, EngineError
from runwright.engine.protocol.errors import HostUnavailable

Message = dict[str, Any]


class Agent:
    """A made-up agent: what an adapter has to know of one, and have it do.

    Attributes:
        session: Its own name for the conversation, the same for as long as that lives.
        branch: The entries of the active branch; those that came from here carry the message's ID.
        busy: Whether it takes a turn, or has input waiting for one.
    """

    def __init__(self, model: Callable[[Message, str], Coroutine[Any, Any, str]]) -> None:
        self.session = f"example-{uuid.uuid4()}"
        self.branch: list[tuple[str | None, str]] = []
        self.busy = False
        self.model = model

    def entry_of(self, message: str) -> str | None:
        """The entry of the active branch that holds a message."""
        return next((f"entry-{number}" for number, (held, _) in enumerate(self.branch) if held == message), None)

    def append(self, text: str, message: str | None = None) -> str:
        """Put an entry at the end of the active branch."""
        self.branch.append((message, text))
        return f"entry-{len(self.branch) - 1}"


class Adapter:
    """The coordinator of one session. It holds nothing that could not be lost: the host and the branch know it all."""

    def __init__(self, client: AsyncClient, agent: Agent) -> None:
        self.client = client
        self.agent = agent
        self.epoch = ""
        self.held: Message | None = None
        self.ended = asyncio.Event()

    async def run(self) -> None:
        """Be the coordinator until the workflow's end was told; after a lost connection, begin anew.

        Raises:
            ConflictError: Another adapter has attached, and the session is its own (`claim_lost`).
        """
        while not self.ended.is_set():
            try:
                await self.attach()
                await self.follow()
            except HostUnavailable:
                continue

    async def attach(self) -> None:
        """Take the session. Whatever was handed out before is asked for again, and looked for on the branch first."""
        rests = not self.agent.busy
        found = await self.client.session_attach(self.agent.session, agent="example", idle=rests, nothing_pending=rests)
        self.epoch, self.held = found["epoch"], None

    async def follow(self) -> None:
        """Do what each view says: look for the current message, or send it."""
        async with self.client.session_subscribe(self.agent.session, self.epoch) as views:
            async for view in views:
                current = view["current"]
                if current is not None and current["deliver"]:
                    self.held = current
                    await self.send()
                elif current is not None:
                    if current["state"] == "cancelled":
                        self.held = None
                    await self.report(current["message"])
                elif view["run_id"] is not None and not self.agent.busy:
                    await self.report(
                        None
                    )  # a run that was started from outside waits for the word that the agent rests
                if self.ended.is_set():
                    return

    async def report(self, message: str | None) -> None:
        """Say what the branch holds of a message, and whether the agent rests."""
        rests = not self.agent.busy
        await self.client.session_report(
            self.agent.session,
            self.epoch,
            message=message,
            entry=None if message is None else self.agent.entry_of(message),
            idle=rests,
            nothing_pending=rests,
        )

    async def send(self) -> None:
        """Send what is held, once the agent is idle: nothing may come between that look and the sending."""
        message = self.held
        if message is None or self.agent.busy:
            return  # `settled` sends it
        text = await self.shown(message)
        if self.held is not message or self.agent.busy:
            return  # reading took a moment; `settled` sends what is still held
        self.held = None
        self.agent.append(text, message["message"])
        self.agent.busy = bool(message["starts_turn"])
        try:
            await self.report(message["message"])
            if message["starts_turn"]:
                await self.turn(message, text)
        finally:
            # Also where the host was lost for longer than a call waits for it, or `run` has attached anew meanwhile, so
            # that what is said in the epoch before is refused: an agent that stays busy is told nothing more.
            self.agent.busy = False
        if message["kind"] == "terminal":
            self.ended.set()

    async def shown(self, message: Message) -> str:
        """What is put before the model: the text, and of a step how to answer it, which its text does not say."""
        text = str(await self.client.content_read(message["text"])) if message["text"] else ""
        if message["kind"] != "step":
            return text
        step: Any = await self.client.content_read(message["content"])
        parts = [text]
        if step["reason"] == "reminder":
            parts.append("Your last turn ended without an answer to this.")
        if step["kind"] == "agent":
            contract = json.dumps(step["contract"] or {}, ensure_ascii=False)
            parts.append(
                f"Call the tool `submit` with the request ID {step['requestId']} and your answer as the value."
            )
            parts.append(f"The value has to meet this JSON Schema: {contract}")
        return "\n\n".join(parts)

    async def turn(self, message: Message, text: str) -> None:
        """A turn for a message: it is the run's only while the host says so."""
        facts = {"turn": str(uuid.uuid4()), "message": message["message"], "run_id": message["run_id"]}
        receipt = await self.client.turn_begun(self.agent.session, self.epoch, **facts)
        reason: Any = "completed"
        try:
            answer = await self.agent.model(message, text)
        except OSError:
            reason, answer = "error", "The provider does not answer."
        entry = self.agent.append(answer)
        self.agent.busy = False
        if receipt["ownership"] == "active":
            await self.client.turn_ended(
                self.agent.session, self.epoch, **facts, stop_reason=reason, entry=entry, text=answer
            )
        await self.settled()

    async def settled(self, *, person_spoke: bool = False) -> None:
        """The agent rests: a boundary, at which a queued run begins; call it after each turn, a person's as well."""
        await self.client.session_settled(self.agent.session, self.epoch, person_spoke=person_spoke)
        await self.send()


def read(answer: str) -> Any:
    """An answer as it was typed: JSON, or else a text."""
    try:
        return json.loads(answer)
    except ValueError:
        return answer


async def main(home: Path, workflow: str, answers: list[str]) -> int:
    """Start a workflow in a session, and play its model; answer the exit code."""

    async def model(message: Message, text: str) -> str:
        """The model reads what it is asked, and calls the tool that hands an answer in."""
        print(f"{message['kind']}: {text}")
        if message["kind"] != "step":
            return "Noted."
        if not answers:
            return "I have no answer."
        step: Any = await client.content_read(message["content"])
        try:
            await client.request_submit(
                step["requestId"], read(answers.pop(0)), session=agent.session, epoch=adapter.epoch
            )
        except (AnswerRejected, ConflictError) as refused:
            return refused.message  # why, for the model to correct itself by
        return "Done."

    agent = Agent(model)
    async with await AsyncClient.connect(home, client=f"example:{agent.session}") as client:
        adapter = Adapter(client, agent)
        agent.busy = True  # in a turn of the person, the model calls the tool that starts a workflow
        await adapter.attach()
        run = await client.run_start(workflow, {}, cwd=Path.cwd(), session=agent.session)
        agent.append(f"Workflow queued (run {run.value}).")
        agent.busy = False
        await adapter.settled(person_spoke=True)
        await adapter.run()
        for _, text in agent.branch:
            print(f"> {text}")
        return 0 if (await client.run_status(run.value))["status"] == "completed" else 1


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])))
    except EngineError as refused:
        sys.exit(f"{refused.message} {refused.hint}")
