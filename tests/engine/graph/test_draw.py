"""A definition is drawn as lines and as a mermaid flowchart."""

from typing import Any

from runwright import Context, Retry, Workflow
from runwright.engine.graph.compile import compile_workflow
from runwright.engine.graph.definition import Definition
from runwright.engine.graph.draw import draw_mermaid, draw_text


def text(ctx: Context[Any]) -> str:
    """A node's function."""
    return ""


def drawn() -> Definition:
    """A loop, a mount, a catch and a limit."""
    inner = Workflow("documentation")
    plan, write = (inner.compute(name=name)(text) for name in ("plan", "write"))
    inner.entry(plan)
    inner.then(plan, write)
    ready = inner.exit("ready", write)
    flow = Workflow("release")
    look = flow.shell(recovery="idempotent", retry=Retry(3), name="look", label='Look "here"')(lambda ctx: ["true"])
    end = flow.compute(name="end")(text)
    docs = flow.include("docs", inner, input=lambda ctx: {})
    flow.entry(look)
    flow.switch(look, {0: docs}, on="$.exit_code", default=end)
    flow.catch(look, end)
    flow.limit(docs, 1, end)
    flow.then(docs[ready], look)
    return compile_workflow(flow).definition


def test_the_text_shows_each_place_and_where_it_leads() -> None:
    """In the order of the rules, a mount's inside under it."""
    assert draw_text(drawn()) == (
        "release\n"
        '▸ look (shell, idempotent, 3 tries, Look "here")\n'
        "    0 → docs\n"
        "    else → end\n"
        "    failed or timed_out → end\n"
        "  docs (mounts documentation)\n"
        "    [ready] → look\n"
        "    after 1 visit → end\n"
        "  ▸ plan (compute)\n"
        "      → docs/write\n"
        "    write (compute)\n"
        "      leaves by [ready]\n"
        "  end (compute)\n"
        "    ends\n"
    )


def test_the_flowchart_escapes_what_people_write() -> None:
    """Labels cannot break out of their quotes."""
    chart = draw_mermaid(drawn())
    assert chart.startswith("flowchart TD\n")
    assert '[["Look #quot;here#quot;"]]' in chart
    assert 'subgraph n0["docs: documentation"]' in chart
    assert '-.->|"failed or timed_out"|' in chart
    assert chart.count("end\n") == 1
