"""Talks in every way that a process has: print, descriptors, C, inherited children, warnings, while it is loaded."""

import ctypes
import os
import subprocess
import sys
import threading
import time
import warnings
from typing import Literal

from attrs import frozen

from runwright import Context, Workflow, seconds


@frozen
class Manner:
    """What to do at the end."""

    end: Literal["answer", "go on"] = "answer"


talk = Workflow("talk", input=Manner)
print("loading")


@talk.compute
def aloud(ctx: Context[Manner]) -> str:
    """Say the same in many ways."""
    print("printed")
    print("to stderr", file=sys.stderr)
    os.write(1, b"to the descriptor\n")
    library = ctypes.CDLL(None)
    library.puts(b"from C")
    library.fflush(None)
    subprocess.run(["echo", "from a child"], check=True)
    warnings.warn("a warning", stacklevel=1)
    thread = threading.Thread(target=lambda: os.write(2, b"from a thread\n"))
    thread.start()
    thread.join()
    print("half a line", end="")
    return "said"


@talk.compute
async def softly(ctx: Context[Manner]) -> str:
    """Say it on the loop."""
    print("on the loop")
    return ctx.input.end


@talk.compute
def answer(ctx: Context[Manner]) -> str:
    """Answer, however long that takes."""
    return "the output"


@talk.compute(timeout=seconds(0.2))
def on_and_on(ctx: Context[Manner]) -> str:
    """Outlive its time, and never stop talking."""
    while True:
        print("still here")
        time.sleep(0.001)


talk.entry(aloud)
talk.then(aloud, softly)
talk.switch(softly, {"answer": answer, "go on": on_and_on})
