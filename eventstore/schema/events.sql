-- The layout of the log. Executed as it stands to make a store, compared literally to open one.

CREATE TABLE events (
    position INTEGER NOT NULL,
    stream TEXT NOT NULL,
    version INTEGER NOT NULL,
    type TEXT NOT NULL,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    generation INTEGER,
    command TEXT,
    data TEXT NOT NULL,
    digest BLOB,
    hash BLOB NOT NULL,
    salt BLOB,
    body TEXT,
    PRIMARY KEY (position),
    UNIQUE (stream, version),
    CHECK (position > 0),
    CHECK (version > 0),
    CHECK (length(CAST(stream AS BLOB)) BETWEEN 1 AND 300),
    CHECK (length(CAST(type AS BLOB)) BETWEEN 1 AND 64),
    CHECK (length(CAST(actor AS BLOB)) BETWEEN 1 AND 200),
    CHECK (command IS NULL OR length(CAST(command AS BLOB)) BETWEEN 1 AND 200),
    CHECK (length(CAST(data AS BLOB)) BETWEEN 1 AND 65536),
    CHECK (digest IS NULL OR length(digest) = 32),
    CHECK (length(hash) = 32),
    CHECK (salt IS NULL OR length(salt) = 16),
    CHECK ((body IS NULL) = (salt IS NULL)),
    CHECK (body IS NULL OR digest IS NOT NULL)
) STRICT;

CREATE INDEX events_erasures ON events (position) WHERE type IN ('log.redacted', 'log.scrubbed', 'run.input_erased');

CREATE TABLE head (
    one INTEGER NOT NULL,
    position INTEGER NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (one),
    CHECK (one = 1),
    CHECK (position > 0),
    CHECK (length(hash) = 32)
) STRICT;

-- Appending only, in order: this also stops OR REPLACE, gaps, and NULL or negative positions.
CREATE TRIGGER events_append BEFORE INSERT ON events
WHEN NEW.position IS NOT (SELECT ifnull(max(position), 0) + 1 FROM events)
  OR NEW.version IS NOT (SELECT ifnull(max(version), 0) + 1 FROM events WHERE stream = NEW.stream)
BEGIN
    SELECT RAISE(ABORT, 'an event goes to the next position and version');
END;

CREATE TRIGGER events_keep BEFORE DELETE ON events
BEGIN
    SELECT RAISE(ABORT, 'an event is never deleted');
END;

-- The only change is the erasure of private values.
CREATE TRIGGER events_erase BEFORE UPDATE ON events
WHEN NEW.body IS NOT NULL
  OR NEW.salt IS NOT NULL
  OR NEW.position IS NOT OLD.position
  OR NEW.stream IS NOT OLD.stream
  OR NEW.version IS NOT OLD.version
  OR NEW.type IS NOT OLD.type
  OR NEW.at IS NOT OLD.at
  OR NEW.actor IS NOT OLD.actor
  OR NEW.generation IS NOT OLD.generation
  OR NEW.command IS NOT OLD.command
  OR NEW.data IS NOT OLD.data
  OR NEW.digest IS NOT OLD.digest
  OR NEW.hash IS NOT OLD.hash
  OR OLD.stream = 'log'
  OR substr(OLD.stream, 1, 11) = 'definition/'
  OR substr(OLD.stream, 1, 8) = 'sources/'
BEGIN
    SELECT RAISE(ABORT, 'of an event only body and salt may be erased');
END;
