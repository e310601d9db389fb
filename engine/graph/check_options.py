"""What can be wrong with the form of one node's options: none that its kind takes, or of a type of its own."""

from collections.abc import Iterator
from typing import Any

from runwright.engine.authoring.conversion import NotConvertible, to_json
from runwright.engine.authoring.declaration import ANNOTATED, TAKES, Declaration
from runwright.engine.authoring.errors import DefinitionError
from runwright.engine.authoring.origin import Origin
from runwright.engine.authoring.questions import Choice
from runwright.engine.graph.problem import problem

#: The options that are texts, and the kinds that cannot do without one (none listed: every kind that takes it may).
_TEXTS = {
    "label": None,
    "by": ("agent", "choose"),
    "effect": (),
    "audience": ("decision",),
    "summary": ("checkpoint",),
    "on_timeout": (),
}


def check_options(declared: Declaration) -> Iterator[DefinitionError]:
    """Every option by itself."""
    name, origin = declared.name, declared.origin
    for option in declared.stray:
        message = f"{declared.kind} nodes take no {option}=, which {name!r} is given."
        yield bad_option(origin, message, f"They take {', '.join(sorted({'name', *TAKES[declared.kind]}))}.")
    for option, kinds in _TEXTS.items():
        value = getattr(declared, option)
        if isinstance(value, str):
            yield from kept(origin, f"{option} of {name!r}", value)
        elif value is not None or kinds is None or declared.kind in kinds:
            yield bad_option(origin, f"{option} of {name!r} has to be a text.", f'Write `{option}="…"`.')
    yield from kept(origin, f"schema of {name!r}", declared.schema)
    if declared.schema is not None and declared.returns not in (Any, ANNOTATED):
        message = f"{name!r} has returns and schema."
        yield bad_option(origin, message, "Keep one of them: the type, or the JSON Schema.")
    if not isinstance(declared.protected, bool):
        yield bad_option(origin, f"protected of {name!r} has to be a bool.", "Write `protected=True`.")
    for option in ("certain", "uncertain"):
        given: object = getattr(declared, option)
        if not isinstance(given, tuple) or not all(_is_error(each) for each in given):
            message = f"{option} of {name!r} has to be a list of exception classes."
            yield bad_option(origin, message, f"Write `{option}=[ValueError]`.")


def _is_error(thing: object) -> bool:
    return isinstance(thing, type) and issubclass(thing, BaseException)


def check_choices(declared: Declaration) -> Iterator[DefinitionError]:
    """What is chosen from, and what holds where nobody chose."""
    if declared.kind not in ("choose", "decision"):
        return
    names, origin = declared.choice_names, declared.origin
    if not names or not all(map(_is_choice, declared.choices)) or len(set(names)) < len(declared.choices):
        yield problem(
            origin,
            "choices_invalid",
            f"The choices of {declared.name!r} have to be one or more different names.",
            'Write `choices=["yes", "no"]`.' if declared.kind == "choose" else 'Write `choices=["yes", Choice("no")]`.',
        )
    else:
        shown = [[each.name, each.label, each.text] if isinstance(each, Choice) else each for each in declared.choices]
        yield from kept(origin, f"choices of {declared.name!r}", shown)
    if declared.on_timeout is None:
        return
    if declared.on_timeout not in names:
        message = f"on_timeout of {declared.name!r} is none of its choices."
        yield problem(origin, "choices_invalid", message, f"Use one of {', '.join(names)}.")
    if declared.deadline is None:
        message = f"{declared.name!r} has on_timeout and no deadline."
        yield bad_option(origin, message, "Add `deadline=hours(24)`.")


def _is_choice(given: object) -> bool:
    if not isinstance(given, Choice):
        return isinstance(given, str) and given != ""
    texts = isinstance(given.name, str) and isinstance(given.label, str) and isinstance(given.text, str | None)
    return texts and given.name != ""


def kept(origin: Origin, what: str, value: object) -> Iterator[DefinitionError]:
    """What is kept with the definition, or shown as it was written, has to be storable."""
    try:
        to_json(value, object)
    except NotConvertible as refusal:
        yield bad_option(origin, f"{what}: {refusal.problem}.", f"{refusal.fix or 'Write plain JSON'}.")


def bad_option(origin: Origin, message: str, fix: str) -> DefinitionError:
    """An option with a value that it cannot have."""
    return problem(origin, "option_invalid", message, fix)
