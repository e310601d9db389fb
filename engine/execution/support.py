"""What this version does not execute yet; a start that needs it is refused before anything is queued."""

from runwright.engine.graph.definition import Definition

_EXECUTED = frozenset({"compute", "action", "shell", "wait", "agent", "choose", "checkpoint"})


def unsupported(definition: Definition) -> list[str]:
    """What a definition needs that is not executed yet.

    Returns:
        One sentence for each node; empty where the definition can be executed.
    """
    return [
        f"{node.path!r} is of kind {node.kind}, which this version does not execute."
        for node in definition.nodes.values()
        if node.kind not in _EXECUTED
    ]
