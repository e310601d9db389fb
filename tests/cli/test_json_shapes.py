"""The shape of every ``--json`` answer, guarded by golden files: changing one is a breaking change.

``RUNWRIGHT_WRITE_GOLDEN=1`` writes them anew; look at the difference before it is committed.
"""

from pathlib import Path

from support.command_line import CommandLine
from support.golden import check


def test_running_and_looking(cli: CommandLine, tmp_path: Path) -> None:
    """What a completed run is shown as, by every command that looks at one."""
    check("run", cli("run", "--inline", "sample", "greet", "-s", "count=2", "--json").document, tmp_path)
    check("run_no_output", cli("run", "--inline", "sample", "greet", "--no-output", "--json").document, tmp_path)
    check("run_dry", cli("run", "--inline", "sample", "greet", "--dry-run", "--json").document, tmp_path)
    check("status", cli("status", "@last", "--json").document, tmp_path)
    check("status_overview_empty", cli("status", "--json").document, tmp_path)
    check("runs", cli("runs", "--limit", "1", "--json").document, tmp_path)
    check("show", cli("show", "@last", "--json").document, tmp_path)
    check("show_node", cli("show", "@last", "measure", "--json").document, tmp_path)
    check("show_node_values", cli("show", "@last", "plan", "--values", "--json").document, tmp_path)
    check("wait", cli("wait", "@last", "--json").document, tmp_path)
    check("wait_several", cli("wait", "@last", cli.run_id(), "--json").document, tmp_path)
    check("output", cli("output", "@last", "--json").document, tmp_path)
    check("logs", cli("logs", "@last", "--json").document, tmp_path)
    check("replay", cli("replay", "@last", "--step", "2", "--json").document, tmp_path)
    check("effects", cli("effects", "@last", "--json").document, tmp_path)


def test_steering(cli: CommandLine, tmp_path: Path) -> None:
    """What commands that change a run answer, and how they repeat."""
    cli.queue("sample", "greet")
    check("status_overview", cli("status", "--json").document, tmp_path)
    check("pause_conflict", cli("pause", "@last", "--json", code=3).document, tmp_path)
    check("resume", cli("resume", "@last", "--json").document, tmp_path)
    cli("run", "--inline", "sample", "greet", "-s", "mode=doubt", code=5)
    effect = cli("effects", "--state", "ambiguous", "--json").document["items"][0]["effect"]
    check("status_ambiguous", cli("status", "@last", "--json").document, tmp_path)
    check("pause", cli("pause", "@last", "--json").document, tmp_path)
    check("effect", cli("effect", effect[-8:], "--json").document, tmp_path)
    check("effect_values", cli("effect", effect, "--values", "--json").document, tmp_path)
    settled = ("resolve", effect, "done", "--result", '"seen"', "--reason", "looked")
    check("resolve", cli(*settled, "--json").document, tmp_path)
    check("cancel", cli("cancel", "@last", "--json").document, tmp_path)
    check("cancel_adopted", cli("cancel", "@last", "--json").document, tmp_path)
    check("cancel_several", cli("cancel", "@last", "zzzz", "--json", code=2).document, tmp_path)


def test_failures(cli: CommandLine, tmp_path: Path) -> None:
    """A failed run, and an error of each exit code."""
    check(
        "run_failed", cli("run", "--inline", "sample", "greet", "-s", "mode=fail", "--json", code=1).document, tmp_path
    )
    check("error_usage", cli("run", "--json", code=2).document, tmp_path)
    check("error_option", cli("runs", "--nonsense", "--json", code=2).document, tmp_path)
    check("error_not_found", cli("status", "zzzz", "--json", code=2).document, tmp_path)
    check("error_workflow", cli("run", "--inline", "nothing", "--json", code=2).document, tmp_path)
    check("error_input", cli("run", "--inline", "sample", "-s", "count=many", "--json", code=2).document, tmp_path)
    check("error_conflict", cli("cancel", "@last", "--json", code=3).document, tmp_path)
    check("error_store", cli("log", "head", "--home", "nowhere", "--json", code=4).document, tmp_path)


def test_audit(cli: CommandLine, tmp_path: Path) -> None:
    """What the commands over the log and its tables answer."""
    cli("run", "--inline", "sample", "greet")
    check("events", cli("events", "@last", "--type", "node.*", "--limit", "2", "--json").document, tmp_path)
    check("query_projections", cli("query", "--json").document, tmp_path)
    check("query", cli("query", "visits", "--where", "kind=compute", "--limit", "1", "--json").document, tmp_path)
    check("projections_verify", cli("projections", "verify", "--json").document, tmp_path)
    check("projections_rebuild", cli("projections", "rebuild", "--json").document, tmp_path)
    check("log_verify", cli("log", "verify", "--json").document, tmp_path)
    check("log_head", cli("log", "head", "--json").document, tmp_path)
    check("log_export", cli("log", "export", "--with-values", "-o", "a.jsonl", "--json").document, tmp_path)
    check("store_status", cli("store", "status", "--json").document, tmp_path)
    check("store_backup", cli("store", "backup", "b.sqlite", "--json").document, tmp_path)
    check("store_import", cli("store", "import", "a.jsonl", "--home", "other", "--json").document, tmp_path)
    check("store_status_imported", cli("store", "status", "--home", "other", "--json").document, tmp_path)
    check("store_adopt", cli("store", "adopt", "--home", "other", "--json").document, tmp_path)
    check("log_redact_dry", cli("log", "redact", "@last", "--reason", "r", "--dry-run", "--json").document, tmp_path)
    by_age = ("log", "redact", "--older-than", "0s", "--dry-run", "--json")
    check("log_redact_by_age_dry", cli(*by_age).document, tmp_path)
    check("log_redact", cli("log", "redact", "@last", "--reason", "r", "--json").document, tmp_path)
    text = Path("a.jsonl").read_text().replace('"node.started"', '"node.startet"', 1)
    Path("c.jsonl").write_text(text)
    check("log_verify_fault", cli("log", "verify", "c.jsonl", "--json", code=1).document, tmp_path)


def test_writing_and_settings(cli: CommandLine, tmp_path: Path) -> None:
    """What the commands for authors and the settings answer."""
    check("init", cli("init", "new", "--json").document, tmp_path)
    check("init_again", cli("init", "new", "--json").document, tmp_path)
    check("workflows", cli("workflows", "--json").document, tmp_path)
    check("check", cli("check", "sample", "--json").document, tmp_path)
    check("check_extras", cli("check", "sample", "--graph", "mermaid", "--input-schema", "--json").document, tmp_path)
    Path("bad.py").write_text("from runwright import Workflow\nbad = Workflow('bad')\n")
    check("check_faults", cli("check", "bad.py", "--json", code=1).document, tmp_path)
    check("config_set", cli("config", "capacity", "3", "--json").document, tmp_path)
    check("config", cli("config", "--json").document, tmp_path)
    assert set(cli("completion", "bash", "--json").document) == {"shell", "script"}
    assert set(cli("--version", "--json").document) == {"version"}
