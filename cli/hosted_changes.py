"""Changes that the host carries out."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from runwright.cli.changes import Change, Erased, Outcome, Remade
from runwright.cli.handing import Handed
from runwright.engine.results import Adopted, Applied
from runwright.eventstore.values import Json

if TYPE_CHECKING:
    from runwright.engine.client.client import Client


class HostedChanges:
    """Has the host carry commands out; as `Changes`.

    Args:
        client: A connection to it.
        handed: What is handed over for a run that goes on behind an answer, or is made.
    """

    drives = True

    def __init__(self, client: "Client", handed: Handed | None = None) -> None:
        self._client = client
        self._handed = handed or Handed()

    def pause(self, run_id: str) -> Change:
        """As `Changes.pause`."""
        return change_of(self._client.run_pause(run_id))

    def cancel(self, run_id: str, *, reason: str) -> Change:
        """As `Changes.cancel`."""
        return change_of(self._client.run_cancel(run_id, reason=reason))

    def restart(self, run_id: str, *, at: str | None, agents: Mapping[str, str]) -> Change:
        """As `Changes.restart`."""
        return change_of(self._client.run_restart(run_id, at=at, agents=agents, pass_env=self._handed.pass_env))

    def answer(self, request_id: str, value: Json) -> Change:
        """As `Replies.answer`."""
        handed = self._handed
        answered = self._client.request_answer(request_id, value, agents=handed.agents, pass_env=handed.pass_env)
        return change_of(answered)

    def submit(self, request_id: str, value: Json) -> Change:
        """As `Replies.submit`."""
        handed = self._handed
        submitted = self._client.request_submit(request_id, value, agents=handed.agents, pass_env=handed.pass_env)
        return change_of(submitted)

    def decide(self, request_id: str, choice: str, *, text: str | None, by: str, digest: str | None) -> Change:
        """As `Replies.decide`."""
        agents, variables = self._handed.agents, self._handed.pass_env
        decided = self._client.request_decide(
            request_id, choice, text=text, by=by, digest=digest, agents=agents, pass_env=variables
        )
        return change_of(decided)

    def resolve(self, effect_id: str, outcome: Outcome, *, result: Json, reason: str) -> Change:
        """As `Changes.resolve`."""
        return change_of(self._client.effect_resolve(effect_id, outcome, result=result, reason=reason))

    def redact(self, run_id: str, *, reason: str, dry_run: bool = False) -> Erased:
        """As `Changes.redact`; a dry run only works out what would be erased."""
        found = self._client.log_redact(run_id, reason=reason, dry_run=dry_run)
        return Erased(root=found["root"], runs=tuple(found["runs"]), events=found["events"], pending=found["pending"])

    def rebuild(self, control: Sequence[str], views: Sequence[str]) -> Remade:
        """As `Changes.rebuild`."""
        found = self._client.projection_rebuild([*control, *views])
        return Remade(position=found["position"], rows=found["rows"])


def change_of(result: Applied[str] | Adopted[str]) -> Change:
    """What was changed, as commands say it."""
    adopted = isinstance(result, Adopted)
    return Change(result="adopted" if adopted else "applied", run_id=result.value, revision=result.revision)
