"""The statements on a projection's table, each compiled once and executed with tuples."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any

import sqlalchemy
from sqlalchemy.dialects import sqlite

from runwright.eventstore.database import Statement
from runwright.projections.projection import Index, Key, Projection, Scalar
from runwright.projections.replace import field_names, from_tuple, to_tuple
from runwright.projections.tables import covers, table_of

#: SQLite takes one with each limit.
_NO_OFFSET = 0


class Statements:
    """How rows of one projection are read and written; each statement is made when it is first used."""

    def __init__(self, projection: Projection[Any]) -> None:
        self.projection = projection
        self._finds: dict[tuple[str, ...], Statement] = {}
        self._holders: dict[int, Statement] = {}

    @cached_property
    def table(self) -> sqlalchemy.Table:
        """The projection's table."""
        return table_of(self.projection, sqlalchemy.MetaData())

    @cached_property
    def load(self) -> Callable[[Sequence[Any]], Any]:
        """Makes a row of a tuple."""
        return from_tuple(self.projection.row)

    @cached_property
    def values(self) -> Callable[[Any], tuple[Any, ...]]:
        """Makes a tuple of a row."""
        return to_tuple(self.projection.row)

    @cached_property
    def select(self) -> Statement:
        """One row by key."""
        return Statement.of(sqlalchemy.select(self.table).where(self._equal(self.projection.key_columns)))

    @cached_property
    def delete(self) -> Statement:
        """One row by key."""
        return Statement.of(sqlalchemy.delete(self.table).where(self._equal(self.projection.key_columns)))

    @cached_property
    def upsert(self) -> Statement:
        """One row, taking the place of the one with its key and of no other."""
        return Statement.of(self._upsert())

    @cached_property
    def everything(self) -> Statement:
        """All rows by key."""
        return Statement.of(sqlalchemy.select(self.table).order_by(*self._keys))

    @cached_property
    def _keys(self) -> list[sqlalchemy.Column[Any]]:
        return [self.table.c[name] for name in self.projection.key_columns]

    def find(self, equals: Mapping[str, Scalar]) -> tuple[Statement, tuple[Scalar, ...]]:
        """Answer the statement for the rows with equal values, and what to execute it with."""
        return self._with(
            equals, "find", lambda found: sqlalchemy.select(self.table).where(*found).order_by(*self._keys)
        )

    def first(self, by: str, most: int, equals: Mapping[str, Scalar]) -> tuple[Statement, tuple[Scalar, ...]]:
        """Answer the statement for the first rows with equal values by a column, and what to execute it with."""
        statement, values = self._with(
            equals,
            f"first {by}",
            lambda found: sqlalchemy.select(self.table).where(*found).order_by(self.table.c[by]).limit(most),
        )
        return statement, (*values, most, _NO_OFFSET)

    def count(self, most: int, equals: Mapping[str, Scalar]) -> tuple[Statement, tuple[Scalar, ...]]:
        """Answer the statement that counts the rows with equal values up to a number, and what to execute it with.

        SQLite counts rows one by one: without an end, that would cost the more the more there are.
        """

        def counted(conditions: list[Any]) -> sqlalchemy.Select[Any]:
            found = sqlalchemy.select(self._keys[0]).where(*conditions).limit(most)
            return sqlalchemy.select(sqlalchemy.func.count()).select_from(found.subquery())

        statement, values = self._with(equals, "count", counted)
        return statement, (*values, most, _NO_OFFSET)

    def _with(
        self, equals: Mapping[str, Scalar], what: str, query: Callable[[list[Any]], sqlalchemy.Select[Any]]
    ) -> tuple[Statement, tuple[Scalar, ...]]:
        """A statement about the rows with equal values, compiled once.

        A partial index that covers the values is named by its condition: SQLite cannot see from bound values
        that it may be used. What that condition says already is not asked again, or each row would be looked at.
        """
        indexes = [
            number for number, each in enumerate(self.projection.indexes) if each.where and _covered(each, equals)
        ]
        said = {name for number in indexes for name, allowed in self._where(number) if len(allowed) == 1}
        given = {name: value for name, value in equals.items() if value is not None and name not in said}
        shape = (what, *equals, "|", *given, "|", *map(str, indexes))
        statement = self._finds.get(shape)
        if statement is None:
            missing = [self.table.c[name].is_(None) for name, value in equals.items() if value is None]
            hints = [covers(self.table, self.projection.indexes[number]) for number in indexes]
            conditions = [self._equal(tuple(given)), *missing, *(each for each in hints if each is not None)]
            statement = self._finds[shape] = Statement.of(query(conditions))
        return statement, tuple(given.values())

    def _where(self, index: int) -> Iterable[tuple[str, tuple[Scalar, ...]]]:
        return self.projection.indexes[index].where.items()

    def holder(self, guard: Index) -> Statement:
        """Answer the statement for the key of the row that holds a guard's values."""
        statement = self._holders.get(id(guard))
        if statement is None:
            condition = covers(self.table, guard)
            query = sqlalchemy.select(*self._keys).where(self._equal(guard.columns))
            if condition is not None:
                query = query.where(condition)
            statement = self._holders[id(guard)] = Statement.of(query)
        return statement

    def key_of(self, row: Any) -> Key:
        """Answer the key of a row."""
        return self.projection.row_key(row)

    def _equal(self, names: Sequence[str]) -> sqlalchemy.ColumnElement[bool]:
        return sqlalchemy.and_(
            sqlalchemy.true(), *(self.table.c[name] == sqlalchemy.bindparam(f"is_{name}") for name in names)
        )

    def _upsert(self) -> sqlalchemy.Insert:
        insert = sqlite.insert(self.table)
        others = [name for name in field_names(self.projection.row) if name not in self.projection.key_columns]
        if not others:
            return insert.on_conflict_do_nothing(index_elements=self._keys)
        return insert.on_conflict_do_update(
            index_elements=self._keys, set_={name: insert.excluded[name] for name in others}
        )


def _covered(index: Index, equals: Mapping[str, Scalar]) -> bool:
    return all(name in equals and equals[name] in allowed for name, allowed in index.where.items())


@cache
def statements_of(projection: Projection[Any]) -> Statements:
    """Answer a projection's statements, made once."""
    return Statements(projection)
