"""What operations on the log, on projections and on the store answer."""

from attrs import frozen

from runwright.engine.protocol.answers import Value
from runwright.engine.protocol.fields import Part, of
from runwright.engine.protocol.kinds import AnyJson, AnyObject, Many, Maybe, Name, Prose, Table, Truth, Whole
from runwright.engine.protocol.limits import CURSOR, HASH, ID, MOST_ITEMS, PATH, POSITION, TIME, WORD
from runwright.eventstore.values import Json, JsonObject


@frozen(kw_only=True)
class EventRead:
    """One event as the log holds it; of its private values those that were asked for.

    Attributes:
        values: Each private value by its field; empty where none were asked for, or they were erased.
        erased: Whether it had private values that are gone.
    """

    position: int = of(Whole(1))
    stream: str = of(Name(300))
    version: int = of(Whole(1))
    type: str = of(WORD)
    at: str = of(TIME)
    actor: str = of(Name(200))
    generation: int | None = of(Maybe(Whole()))
    command: str | None = of(Maybe(Name(200)))
    data: JsonObject = of(AnyObject(64 * 1024))
    hash: str = of(HASH)
    erased: bool = of(Truth())
    values: dict[str, Value] = of(Table(WORD, Part(Value), 16))


@frozen(kw_only=True)
class EventsPage:
    """Events in order; ``next`` is the position to go on after, ``more`` whether there is more already."""

    items: tuple[EventRead, ...] = of(Many(Part(EventRead), MOST_ITEMS))
    next: int = of(POSITION)
    more: bool = of(Truth())


@frozen(kw_only=True)
class ProjectionNamed:
    """What can be queried."""

    projection: str = of(WORD)
    holds: str = of(Prose(1024))
    fields: tuple[str, ...] = of(Many(WORD, 256))


@frozen(kw_only=True)
class ProjectionsFound:
    """Every projection with its fields."""

    items: tuple[ProjectionNamed, ...] = of(Many(Part(ProjectionNamed), 1024))


@frozen(kw_only=True)
class RowsPage:
    """A page of rows of one projection."""

    items: tuple[JsonObject, ...] = of(Many(AnyObject(), MOST_ITEMS))
    position: int = of(POSITION)
    next: str | None = of(CURSOR)


@frozen(kw_only=True)
class Difference:
    """One thing that a table says and the log does not."""

    projection: str = of(WORD)
    key: JsonObject = of(AnyObject(64 * 1024))
    field: str | None = of(Maybe(WORD))
    live: Json = of(AnyJson(128 * 1024))
    replayed: Json = of(AnyJson(128 * 1024))
    position: int | None = of(Maybe(POSITION))
    event_type: str | None = of(Maybe(WORD))


@frozen(kw_only=True)
class ProjectionsVerified:
    """How tables and log compare; ``left_out`` counts differences that the frame has no room for."""

    ok: bool = of(Truth())
    position: int = of(POSITION)
    rows: int = of(Whole())
    differences: tuple[Difference, ...] = of(Many(Part(Difference), MOST_ITEMS))
    left_out: int = of(Whole())


@frozen(kw_only=True)
class ProjectionsRebuilt:
    """What was made anew: control rows by projection, as of a position, and views."""

    position: int = of(POSITION)
    rows: dict[str, int] = of(Table(WORD, Whole(), 256))
    views: tuple[str, ...] = of(Many(WORD, 256))


@frozen(kw_only=True)
class LogHead:
    """The last position of the log and its hash, to be kept elsewhere."""

    position: int = of(POSITION)
    hash: str = of(HASH)


@frozen(kw_only=True)
class LogRedacted:
    """What was erased, or would be; ``pending`` while a reader keeps the bytes from going."""

    run_id: str = of(ID)
    root: str = of(ID)
    runs: tuple[str, ...] = of(Many(ID, 65536))
    events: int = of(Whole())
    pending: bool = of(Truth())
    dry_run: bool = of(Truth())


@frozen(kw_only=True)
class StoreBackedUp:
    """A verified copy was written; its head is the one to keep."""

    file: str = of(PATH)
    events: int = of(Whole())
    head: str | None = of(Maybe(Name(128)))
    log_id: str | None = of(Maybe(Name(64)))
