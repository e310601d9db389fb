"""Workflows that a host's tests write into files: quick, long, stuck, and deadly to their worker."""

QUICK = '''
"""Two steps."""
from runwright import Context, JsonObject, Workflow

flow = Workflow("quick")

@flow.compute
def one(ctx: Context[JsonObject]) -> int:
    return 1

@flow.compute
def two(ctx: Context[JsonObject]) -> int:
    return ctx.output(one) + 1

flow.entry(one)
flow.then(one, two)
'''

STUCK = '''
"""A node that never returns, plain or asynchronous."""
from runwright import Context, JsonObject, Workflow

plain = Workflow("plain")
coroutine = Workflow("coroutine")

@plain.compute
def spin(ctx: Context[JsonObject]) -> int:
    while True:
        pass

@coroutine.compute
async def turn(ctx: Context[JsonObject]) -> int:
    while True:
        pass

plain.entry(spin)
coroutine.entry(turn)
'''

DEADLY = '''
"""A node that kills its worker, and a module that kills whoever imports it in a worker."""
import os
from pathlib import Path

from runwright import Context, JsonObject, Workflow

flow = Workflow("deadly")

@flow.compute
def fatal(ctx: Context[JsonObject]) -> int:
    with open(ctx.cwd / "ledger", "a") as ledger:
        ledger.write("fatal\\n")
    if not (ctx.cwd / "antidote").exists():
        os._exit(9)
    return 1

flow.entry(fatal)
'''

LONG = '''
"""A shell step with a process tree, that says when it is there."""
from runwright import Context, JsonObject, Workflow

flow = Workflow("long")

@flow.compute
def first(ctx: Context[JsonObject]) -> int:
    return 1

@flow.shell(recovery="idempotent")
def tree(ctx: Context[JsonObject]) -> list[str]:
    return ["sh", "-c", "trap '' TERM; (sleep 300 & sleep 300) & touch there; [ -e go ] || wait"]

@flow.compute
def last(ctx: Context[JsonObject]) -> int:
    return 2

flow.entry(first)
flow.then(first, tree)
flow.then(tree, last)
'''
