"""The layout of the whole store: the log's own tables and the control projections."""

from importlib import resources

import sqlalchemy

from runwright.eventstore.table import EVENTS_DDL, Layout
from runwright.projections.control.registry import CONTROL
from runwright.projections.tables import table_of

__all__ = ["CONTROL", "CONTROL_DDL", "CONTROL_LAYOUT", "LAYOUT", "control_metadata"]

#: The checked-in text of the control tables, executed as it stands and compared literally.
CONTROL_DDL = resources.files("runwright.projections").joinpath("schema", "control.sql").read_text("utf-8")
CONTROL_LAYOUT = Layout.parse(CONTROL_DDL)

#: What a store must look like.
LAYOUT = Layout.parse(EVENTS_DDL, CONTROL_DDL)


def control_metadata() -> sqlalchemy.MetaData:
    """Answer the control tables as SQLAlchemy knows them; a test compares them with the checked-in text."""
    metadata = sqlalchemy.MetaData()
    for projection in CONTROL:
        table_of(projection, metadata)
    return metadata
