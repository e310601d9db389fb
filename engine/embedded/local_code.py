"""A workflow's code in this very process: an embedded engine's own, and the only job of a resolver."""

import asyncio
from typing import Any

from runwright.engine.authoring.conversion import shape_of
from runwright.engine.authoring.shell import ShellResult
from runwright.engine.embedded.catalog import Catalog, Driven
from runwright.engine.embedded.checking import find_faults
from runwright.engine.embedded.code import (
    Answer,
    AnswerFits,
    AnswerGiven,
    Checked,
    Checking,
    Ended,
    Prepared,
    Presented,
    ProgramDiffers,
    ResultFits,
    ResultGiven,
    Starting,
    Wanted,
)
from runwright.engine.embedded.fitting import fitting, whole
from runwright.engine.embedded.instructions import ask_for_instructions
from runwright.engine.embedded.preflight import check_input, prepare
from runwright.engine.embedded.validating import validate_answer
from runwright.engine.errors import ActivationFailed


class LocalCode:
    """Answers the questions of `Code` with the programs of a catalog.

    Args:
        catalog: The programs: what was handed in or started here, and what is loaded when somebody asks.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        # Loading runs the user's files and moves what this process has imported: one at a time.
        self._loading = asyncio.Lock()

    async def load(self, wanted: Wanted) -> Driven:
        """As `Code.load`."""
        known = self._catalog.handed(wanted) or self._catalog.started_here(wanted)
        if known is not None:
            return known
        async with self._loading:
            return await asyncio.to_thread(self._catalog.of_reference, wanted.reference, wanted.project)

    async def prepare(self, starting: Starting, value: object) -> Prepared:
        """As `Code.prepare`."""
        return prepare(await self.load(starting.wanted), starting, value, typed=False)

    async def check(self, checking: Checking, value: object = None) -> Checked:
        """As `Code.check`."""
        wanted = checking.wanted
        async with self._loading:
            found = await asyncio.to_thread(find_faults, wanted.reference, wanted.project, self._catalog.user)
        if checking.with_input and found.driven is not None:
            check_input(found.driven.program, value, typed=False)
        return Checked(workflow=found.workflow, problems=found.problems, program=found.driven)

    async def answer(self, given: AnswerGiven, value: object) -> Answer:
        """As `Code.answer`."""
        driven = await self.load(given.wanted)
        node = driven.program.nodes.get(given.path)
        if node is None or not (given.late or driven.carries(given.wanted)):
            return ProgramDiffers(program=driven)
        if node.declaration.kind == "choose" and isinstance(value, str):
            value = value.strip()
        document = whole(value, node.shape, "answer")
        if given.kind == "agent" and given.state is not None:
            await validate_answer(driven, given.state, given.path, document)
        return AnswerFits(program=driven, document=document)

    async def result(self, given: ResultGiven, value: object) -> ResultFits:
        """As `Code.result`."""
        driven = await self.load(given.wanted)
        node = driven.program.nodes.get(given.path)
        shape = shape_of(Any) if node is None else node.shape
        if node is None or node.declaration.kind != "shell":
            stored = fitting(value, shape, "result")
            return ResultFits(stored=stored, output=stored)
        of_shell, parse = shape_of(ShellResult), node.declaration.parse
        stored = fitting(ShellResult("") if value is None else value, of_shell, "result")
        if parse is None:
            return ResultFits(stored=stored, output=stored)
        try:
            parsed = await asyncio.to_thread(parse, of_shell.load(stored))
        except Exception:  # noqa: BLE001 - the user's function may raise anything
            raise ActivationFailed(f"the parse function of {given.path}") from None
        return ResultFits(stored=stored, output=fitting(parsed, shape, "result"))

    async def present(self, ended: Ended) -> Presented:
        """As `Code.present`."""
        return await ask_for_instructions(await self.load(ended.wanted), ended)
