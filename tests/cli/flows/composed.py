"""Prepares, goes through a mounted workflow, and fails at the end."""

from attrs import frozen

from runwright import Context, Workflow


@frozen
class Nothing:
    """There is nothing to say."""


inner = Workflow("inner", input=Nothing)


@inner.compute
def work(ctx: Context[Nothing]) -> int:
    """Work."""
    return 1


inner.entry(work)
done = inner.exit("done", work)

composed = Workflow("composed", input=Nothing)


@composed.compute
def prepare(ctx: Context[Nothing]) -> int:
    """Prepare."""
    return 0


sub = composed.include("sub", inner, input=lambda ctx: Nothing())


@composed.compute
def publish(ctx: Context[Nothing]) -> int:
    """Fail."""
    raise ValueError("it cannot be published")


composed.entry(prepare)
composed.then(prepare, sub)
composed.then(sub[done], publish)
