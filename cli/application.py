"""Runs one command and turns everything that can go wrong into a sentence, a next step and an exit code."""

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TextIO

import click

from runwright.cli.catalogue import runwright
from runwright.cli.failures import INTERRUPTED, OK, UNAVAILABLE, USAGE, Failure, failure_of
from runwright.cli.invocation import Flags
from runwright.cli.output import Output

_GO_ON = "Nothing that was acknowledged is lost; `runwright status` shows what is there and what to type."


def run(arguments: Sequence[str]) -> int:
    """Run the command that the arguments name.

    Returns:
        The exit code.
    """
    # Importing makes no garbage; looking for some while it happens takes a tenth of a short command's time.
    gc.set_threshold(50_000, 20, 20)
    for stream in (sys.stdout, sys.stderr):
        _never_fail_to_encode(stream)
    flags = Flags()
    try:
        answer = runwright.main(
            list(arguments), prog_name="runwright", standalone_mode=False, obj=flags, windows_expand_args=False
        )
        sys.stdout.flush()
        return answer if isinstance(answer, int) else OK
    except BrokenPipeError:
        # Whoever read the answer has seen enough. What is still buffered must not be written at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except BaseException as error:
        if isinstance(error, SystemExit):
            raise
        failure = _failure(error, flags.named)
        _remember_streams(flags, arguments)
        out = Output(as_json=flags.as_json, as_lines=flags.as_lines, verbose=flags.verbose, where=flags.where)
        if failure.code == "internal_error" and flags.verbose:
            import traceback

            traceback.print_exception(error, file=sys.stderr)
        if failure.code == "interrupted" and not out.for_machines:
            out.say(f"Interrupted. {failure.hint}")  # somebody left, which is no error
        else:
            out.fail(failure)
        return failure.exit_code


def _failure(error: BaseException, names: Mapping[str, str]) -> Failure:
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return Failure(code="interrupted", message="interrupted", hint=_GO_ON, exit_code=INTERRUPTED)
    if isinstance(error, click.ClickException):
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "runwright"
        message = error.format_message().rstrip(".")
        return Failure(code="usage", message=message, hint=f"See `{path} --help`.", exit_code=USAGE)
    failure = failure_of(error, names)
    if failure is not None:
        return failure
    if isinstance(error, FileNotFoundError) and error.filename is None:
        return Failure(
            code="file_unreadable",
            message="The current folder is not there any more.",
            hint="Change into another one, and repeat the command.",
            exit_code=USAGE,
        )
    if isinstance(error, OSError) and error.strerror:
        name = f"The path {error.filename}" if isinstance(error.filename, str) else "A file or folder"
        return Failure(
            code="file_unreadable",
            message=f"{name} cannot be used: {error.strerror}",
            hint="Check that it exists, and that you may read and write it.",
            exit_code=USAGE,
        )
    return Failure(
        code="internal_error",
        message=f"Runwright met an error of its own ({type(error).__name__})",
        hint="Nothing that was acknowledged is lost. Run it again with -v to see where, and report it.",
        exit_code=UNAVAILABLE,
    )


def _remember_streams(flags: Flags, arguments: Sequence[str]) -> None:
    """Answer in the asked form even where the arguments could not be parsed to the end."""
    before_values = list(arguments)[: list(arguments).index("--")] if "--" in arguments else arguments
    flags.as_json = flags.as_json or "--json" in before_values
    flags.as_lines = flags.as_lines or "--jsonl" in before_values


def _never_fail_to_encode(stream: TextIO) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
