"""Loading how a run ended, by the typed readers and nothing else, for the message that tells of it."""

from runwright.engine.decisions.facts import RunFacts
from runwright.engine.decisions.presentation import PresentationFacts
from runwright.engine.rundata import RunData
from runwright.engine.transitions.facts import FactsLoader
from runwright.projections.control.terminal import TERMINAL


def presentation_facts(loader: FactsLoader, of: RunFacts) -> PresentationFacts:
    """What telling of a run's end is decided on."""
    terminal = loader.rows.get(TERMINAL, of.run.run_id)
    due = terminal is not None and terminal.presentation in ("pending", "failed")
    facts = RunData(loader.rows, loader.tx.event).read_terminal_facts(of.run.run_id) if due else None
    return PresentationFacts(
        of=of,
        terminal=terminal,
        facts=facts,
        order=1 if of.run.session is None else loader.next_order(of.run.session),
    )
