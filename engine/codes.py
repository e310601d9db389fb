"""The closed list of codes that a run, a refused start or a refused command can carry, each with its next step."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

#: A start can be refused with these, and a run can end with them (page 05, "Launch").
_RUNS: Final = {
    "workflow_not_found": "check the name or the file; `runwright workflows` lists what can be started",
    "workflow_invalid": "`runwright check WORKFLOW` shows everything that is wrong, with file and line",
    "input_invalid": "correct the input; `runwright check WORKFLOW --input-schema` shows what it has to be",
    "agent_missing": "name an executor with --agent, or hand one to `Engine.open(agents=…)`",
    "interpreter_unusable": "install runwright into the project's environment, or set `python`",
    "session_busy": "wait for the run that holds the session, or cancel it",
    "presentation_pending": "let the session answer the message it was given, then start again",
    "parent_invalid": "look at the parent run with `runwright status`",
    "source_changed": "put the files back, look at the change and run `runwright resume RUN --accept-source`, "
    "or cancel the run and start the workflow again as it is now",
    "store_unavailable": "repeat the command with the same key",
    "activation_failed": "look at `runwright logs RUN`, correct the cause, then start again",
    "cancelled": "start again when it is wanted after all",
    "node_failed": "`runwright show RUN NODE` shows the error",
    "node_timed_out": "give the node more time (`timeout=`), or catch `timed_out`",
    "run_timed_out": "give the workflow more time (`timeout=`), or start again",
    "route_missing": "add the missing case, or a default, to the switch",
    "max_steps_exceeded": "bound the loop with `limit`, or raise `max_steps`",
    "effect_request_changed": "make `request=` a function of saved outputs only, so that a visit asks the same twice",
    "missing_submission": "let the agent submit an answer before it ends its turn",
    "payload_too_large": "store the content in a file and hand on its path and digest",
    "output_invalid": "return what the node's annotation says",
    "worker_crashed": "nothing to do: the run goes on by itself",
    "worker_no_progress": "look at `runwright logs RUN`, correct the cause, then `runwright resume RUN`",
    "worker_timed_out": "look at `runwright logs RUN`, then `runwright resume RUN`",
    "claim_lost": "nothing to do: another owner carries the run on",
    "host_unavailable": "start the host, or look at its log",
    "worker_unkillable": "end the process by hand, then `runwright resume RUN`",
    "effect_ambiguous": "find out what happened, then `runwright resolve EFFECT done|not-done|timed-out --reason TEXT`",
    "environment_missing": "`runwright resume RUN --agent SPEC` hands an agent back; a program, the workflow as well",
    "provider_error": "look at the provider's state, then `runwright resume RUN`",
    "validation_failed": "correct the prompt or the check, then start again",
    "protocol_rejected": "this is a fault of runwright or of a changed worker: report it with `runwright logs RUN`",
    "input_cleared": "start the workflow again with its input",
    "start_no_progress": "let a person take a turn first",
    "unsupported": "use the version of runwright that recorded it, or cancel the run",
}

#: Commands are refused with these (fine print, "Codes of commands and the store").
_COMMANDS: Final = {
    "not_started": "`runwright resume RUN` drives it, or cancel it",
    "not_parked": "look at what it waits for with `runwright status RUN`",
    "already_terminal": "it has ended; `runwright status RUN` shows how",
    "still_live": "let the run end, or `runwright resume RUN` where it stands still, or cancel it",
    "paused": "`runwright resume RUN` first",
    "restart_no_progress": "correct the cause; a person can restart it all the same",
    "human_required": "a person has to answer this: at a terminal, or in a program by `engine.decide`",
    "key_reused": "use a new key for another command",
    "revision_changed": "read the facts again, then decide anew",
    "not_found": "check the ID; lists print its last six characters",
    "ambiguous_id": "give more of the ID",
}

RUN_CODES: Final[frozenset[str]] = frozenset(_RUNS)
COMMAND_CODES: Final[frozenset[str]] = frozenset(_COMMANDS)

#: Every code of the engine with the next step that people are told.
HINTS: Final[Mapping[str, str]] = MappingProxyType({**_RUNS, **_COMMANDS})
