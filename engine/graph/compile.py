"""From a workflow to a program: its definition as data, and the functions and types behind each path."""

from collections.abc import Callable, Iterator
from typing import Any

from attrs import field, frozen

from runwright.engine.authoring.conversion import schema_of, shape_of
from runwright.engine.authoring.declaration import Declaration
from runwright.engine.authoring.limits import delay_us, limit_us
from runwright.engine.authoring.nodes import MountExit, Node, Place
from runwright.engine.authoring.rules import Catch, Entry, Limit, Switch, Then
from runwright.engine.authoring.times import Retry
from runwright.engine.authoring.workflow import Workflow
from runwright.engine.errors import WorkflowInvalid
from runwright.engine.graph.check import check
from runwright.engine.graph.check_nodes import is_manual
from runwright.engine.graph.children import Children, Resolve
from runwright.engine.graph.definition import (
    Case,
    Contract,
    Definition,
    MountSpec,
    NodeSpec,
    RetrySpec,
)
from runwright.engine.graph.definition import Limit as LimitSpec
from runwright.engine.graph.definition import Switch as SwitchSpec
from runwright.engine.graph.program import Program, Scope


def compile_workflow(workflow: Workflow[Any], resolve: Resolve | None = None) -> Program:
    """Check and compile a workflow with all that it mounts.

    Args:
        workflow: The root.
        resolve: Finds children that are named by reference.

    Raises:
        WorkflowInvalid: When anything is wrong, with everything that is.
    """
    children = Children(resolve)
    problems = [str(each) for each in check(workflow, resolve) if each.severity == "error"]
    problems.extend(_unresolved(workflow, children) if resolve is None else ())
    if problems:
        raise WorkflowInvalid(str(workflow.name)[:64], problems)
    return _Compiler(children).program(workflow)


def _unresolved(root: Workflow[Any], children: Children) -> Iterator[str]:
    for workflow in children.all(root):
        for mount in workflow.mounts:
            if children.of(mount) is None:
                where = f"{mount.origin.file}:{mount.origin.line}"
                yield f"{where}: child_unknown: {mount.child!r} is only named. Hand over the workflow itself."


@frozen(eq=False)
class _Compiler:
    """Collects the flat graph, one workflow at a time."""

    children: Children
    nodes: dict[str, NodeSpec] = field(factory=dict)
    written: dict[str, Node[..., Any, Any]] = field(factory=dict)
    mounts: dict[str, MountSpec] = field(factory=dict)
    scopes: dict[str, Scope] = field(factory=dict)
    then: dict[str, str] = field(factory=dict)
    switches: dict[str, SwitchSpec] = field(factory=dict)
    catches: dict[str, dict[str, str]] = field(factory=dict)
    limits: dict[str, LimitSpec] = field(factory=dict)

    def program(self, root: Workflow[Any]) -> Program:
        entry = self._add(root, "", None)
        dynamic = callable(root.timeout)
        definition = Definition(
            workflow=root.name,
            description=root.doc.strip().partition("\n\n")[0].replace("\n", " "),
            entry=entry,
            nodes=self.nodes,
            mounts=self.mounts,
            then=self.then,
            switches=self.switches,
            catches=self.catches,
            limits=self.limits,
            max_steps=root.max_steps,
            timeout_us=None if dynamic else limit_us(root.timeout),
            dynamic_timeout=dynamic,
            input_schema=schema_of(root.input),
            presentation=root.instructions,
            dynamic_presentation=bool(root.presenters),
        )
        return Program(
            definition=definition,
            nodes=self.written,
            scopes=self.scopes,
            input=shape_of(root.input),
            timeout=root.timeout if dynamic else None,
            present=root.presenters[0] if root.presenters else None,
        )

    def _add(self, workflow: Workflow[Any], scope: str, make_input: Callable[..., Any] | None) -> str:
        """Add one workflow under a mount path, and answer the path of its entry."""
        for node in workflow.nodes:
            path = _path(scope, node)
            self.nodes[path] = node_spec(path, node)
            self.written[path] = node
        sources = {node.name: _path(scope, node) for node in workflow.nodes}
        for mount in workflow.mounts:
            child, path = self.children.of(mount), _path(scope, mount)
            assert child is not None
            exits = {way_out.name: f"{path}/{way_out.node.name}" for way_out in child.exits}
            sources |= {f"{mount.name}[{name}]": node for name, node in exits.items()}
            entry = self._add(child, path, mount.input)
            self.mounts[path] = MountSpec(
                path=path,
                workflow=child.name,
                entry=entry,
                exits=exits,
                max_steps=child.max_steps,
                input_schema=schema_of(child.input),
            )
        self.scopes[scope] = Scope(
            path=scope,
            workflow=workflow.name,
            input=shape_of(workflow.input),
            make_input=make_input,
            sources=sources,
            places={place.name: _path(scope, place) for place in (*workflow.nodes, *workflow.mounts)},
        )
        return self._rules(workflow, scope)

    def _rules(self, workflow: Workflow[Any], scope: str) -> str:
        entry = ""
        for rule in workflow.rules:
            match rule:
                case Entry():
                    entry = _path(scope, rule.place)
                case Then():
                    self.then[_source(scope, rule.source)] = _path(scope, rule.to)
                case Switch():
                    self.switches[_source(scope, rule.source)] = SwitchSpec(
                        on=rule.on,
                        cases=tuple(Case(value=value, to=_path(scope, to)) for value, to in rule.cases.items()),
                        default=None if rule.default is None else _path(scope, rule.default),
                    )
                case Catch():
                    caught = self.catches.setdefault(_path(scope, rule.place), {})
                    for outcome in rule.on:
                        caught["failed" if outcome == "failed" else "timed_out"] = _path(scope, rule.to)
                case Limit():
                    limit = LimitSpec(visits=rule.visits, to=_path(scope, rule.to))
                    self.limits[_path(scope, rule.place)] = limit
        return entry


def node_spec(path: str, node: Node[..., Any, Any]) -> NodeSpec:
    """One node as data."""
    declared = node.declaration
    dynamic = callable(declared.timeout)
    return NodeSpec(
        path=path,
        kind=declared.kind,
        label=declared.label,
        schema=schema_of(node.shape),
        timeout_us=None if dynamic else limit_us(declared.timeout),
        dynamic_timeout=dynamic,
        retry=_retry(declared.retry),
        contract=_contract(declared),
        effect_type=_effect_type(node),
        by=declared.by,
        choices=declared.choice_names,
        wait_us=None if declared.after is None else delay_us(declared.after),
        deadline_us=None if declared.deadline is None else limit_us(declared.deadline),
        on_timeout=declared.on_timeout,
        audience=declared.audience,
        notice=declared.notice,
        max_chars=declared.max_chars,
        summary=declared.summary,
        protected=declared.protected,
    )


def _retry(retry: Retry | None) -> RetrySpec | None:
    if retry is None:
        return None
    return RetrySpec(
        attempts=retry.attempts,
        first_us=delay_us(retry.first),
        factor=float(retry.factor),
        maximum_us=delay_us(retry.maximum),
    )


def _contract(declared: Declaration) -> Contract | None:
    if declared.kind not in ("action", "shell"):
        return None
    if is_manual(declared):
        return "manual"
    return "idempotent" if declared.observe is None else "observed"


def _effect_type(node: Node[..., Any, Any]) -> str | None:
    if node.declaration.kind == "shell":
        return "shell"
    return node.declaration.effect or node.name if node.declaration.kind == "action" else None


def _path(scope: str, place: Place) -> str:
    return f"{scope}/{place.name}" if scope else place.name


def _source(scope: str, source: Node[..., Any, Any] | MountExit[Any]) -> str:
    return f"{scope}/{source.key}" if scope else source.key
