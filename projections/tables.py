"""The tables of projections, made from their row classes and indexes."""

from collections.abc import Iterable
from typing import Any

import sqlalchemy
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from runwright.projections.errors import ProjectionInvalid
from runwright.projections.projection import Index, Projection
from runwright.projections.replace import field_types

_KINDS: dict[type, Any] = {
    str: sqlalchemy.Text,
    int: sqlalchemy.Integer,
    bool: sqlalchemy.Integer,
    float: sqlalchemy.REAL,
    bytes: sqlalchemy.BLOB,
}


def table_of(projection: Projection[Any], metadata: sqlalchemy.MetaData) -> sqlalchemy.Table:
    """Lay out the table of a projection.

    Args:
        projection: The projection; its row's fields become the columns, in order.
        metadata: Where the table belongs to.

    Raises:
        ProjectionInvalid: A field has a type that no column can hold, or a key or index names no field.
    """
    try:
        types = field_types(projection.row)
    except (AttributeError, NameError, TypeError) as error:
        raise ProjectionInvalid(projection.name, str(error)) from None
    named = {*projection.key_columns, *(name for each in projection.indexes for name in (*each.columns, *each.where))}
    if unknown := sorted(named - types.keys()):
        raise ProjectionInvalid(projection.name, f"its row has no field {unknown[0]}")
    if not projection.key_columns:
        raise ProjectionInvalid(projection.name, "it has no key columns")
    columns = [sqlalchemy.Column(name, _KINDS[kind], nullable=nullable) for name, (kind, nullable) in types.items()]
    table = sqlalchemy.Table(
        projection.name,
        metadata,
        *columns,
        sqlalchemy.PrimaryKeyConstraint(*projection.key_columns),
        *(sqlalchemy.CheckConstraint(each.in_((0, 1))) for each in columns if types[each.name][0] is bool),
        # Rows are found by key and nothing else: the key's tree is the table.
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    for index in projection.indexes:
        sqlalchemy.Index(
            "_".join((projection.name, *index.columns)),
            *(table.c[name] for name in index.columns),
            unique=index.unique,
            sqlite_where=covers(table, index),
        )
    return table


def covers(table: sqlalchemy.Table, index: Index) -> sqlalchemy.ColumnElement[bool] | None:
    """Answer the condition of a partial index, its values written out: a bound one would hide it from SQLite."""
    if not index.where:
        return None
    return sqlalchemy.and_(
        *(
            table.c[name] == _written(allowed[0])
            if len(allowed) == 1
            else table.c[name].in_([_written(value) for value in allowed])
            for name, allowed in index.where.items()
        )
    )


def _written(value: object) -> sqlalchemy.ColumnElement[Any]:
    if isinstance(value, str):
        return sqlalchemy.literal_column("'{}'".format(value.replace("'", "''")))
    return sqlalchemy.literal_column(str(int(value)) if isinstance(value, bool | int) else "NULL")


def ddl(tables: Iterable[sqlalchemy.Table]) -> tuple[str, ...]:
    """Write the statements that make the tables and their indexes, each in one canonical form."""
    dialect = sqlite.dialect()
    statements: list[str] = []
    for table in tables:
        text = str(CreateTable(table).compile(dialect=dialect)).strip()
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        end = lines.index(")")
        inner = "\n".join(f"    {line}" for line in lines[1:end])
        statements.append(f"{lines[0]}\n{inner}\n) {' '.join(lines[end + 1 :])}")
        for index in sorted(table.indexes, key=lambda each: str(each.name)):
            statements.append(" ".join(str(CreateIndex(index).compile(dialect=dialect)).split()))
    return tuple(statements)
