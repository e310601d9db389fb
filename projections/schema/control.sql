-- The layout of the control projections. Executed as it stands to make a store, compared literally to open one.

CREATE TABLE runs (
    run_id TEXT NOT NULL,
    workflow TEXT NOT NULL,
    reference TEXT NOT NULL,
    sources TEXT,
    definition TEXT NOT NULL,
    session TEXT,
    project TEXT,
    cwd TEXT,
    interpreter TEXT,
    agents TEXT NOT NULL,
    pass_env TEXT NOT NULL,
    kind TEXT NOT NULL,
    cause TEXT,
    depth INTEGER NOT NULL,
    parent TEXT,
    root TEXT NOT NULL,
    restart_number INTEGER NOT NULL,
    parent_fingerprint TEXT,
    request TEXT,
    at TEXT,
    status TEXT NOT NULL,
    node TEXT,
    visit INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    step_base INTEGER NOT NULL,
    steps INTEGER NOT NULL,
    max_steps INTEGER NOT NULL,
    timeout INTEGER,
    paused INTEGER NOT NULL,
    pause_requested INTEGER NOT NULL,
    progress INTEGER NOT NULL,
    launches INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER,
    code TEXT,
    message TEXT,
    continued_by TEXT,
    input INTEGER,
    input_erased INTEGER NOT NULL,
    output INTEGER,
    PRIMARY KEY (run_id),
    CHECK (paused IN (0, 1)),
    CHECK (pause_requested IN (0, 1)),
    CHECK (input_erased IN (0, 1))
) WITHOUT ROWID, STRICT;
CREATE INDEX runs_project ON runs (project);
CREATE UNIQUE INDEX runs_request ON runs (request) WHERE kind = 'continue';
CREATE INDEX runs_root ON runs (root);
CREATE INDEX runs_session ON runs (session);
CREATE INDEX runs_status ON runs (status) WHERE status IN ('queued', 'running', 'waiting');

CREATE TABLE queue (
    run_id TEXT NOT NULL,
    session TEXT,
    project TEXT,
    state TEXT NOT NULL,
    started INTEGER NOT NULL,
    eligible INTEGER NOT NULL,
    cause TEXT,
    "order" INTEGER NOT NULL,
    reason TEXT,
    code TEXT,
    detail TEXT,
    since INTEGER NOT NULL,
    owner TEXT,
    token_hash TEXT,
    generation INTEGER NOT NULL,
    requeues INTEGER NOT NULL,
    PRIMARY KEY (run_id),
    CHECK (started IN (0, 1)),
    CHECK (eligible IN (0, 1))
) WITHOUT ROWID, STRICT;
CREATE INDEX queue_eligible_order ON queue (eligible, "order") WHERE eligible = 1;
CREATE INDEX queue_state ON queue (state) WHERE state IN ('queued', 'starting', 'running', 'parked');

CREATE TABLE reservations (
    run_id TEXT NOT NULL,
    session TEXT NOT NULL,
    workflow TEXT NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (run_id)
) WITHOUT ROWID, STRICT;
CREATE UNIQUE INDEX reservations_session ON reservations (session);

CREATE TABLE sessions (
    session TEXT NOT NULL,
    epoch TEXT,
    agent TEXT,
    attached INTEGER NOT NULL,
    wake_ups INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (session),
    CHECK (attached IN (0, 1))
) WITHOUT ROWID, STRICT;

CREATE TABLE visits (
    run_id TEXT NOT NULL,
    path TEXT NOT NULL,
    kind TEXT NOT NULL,
    visits INTEGER NOT NULL,
    invocation INTEGER NOT NULL,
    invocation_visits INTEGER NOT NULL,
    open INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    deadline INTEGER,
    started_at INTEGER,
    finished_at INTEGER,
    outcome TEXT,
    code TEXT,
    finished INTEGER,
    output INTEGER,
    PRIMARY KEY (run_id, path),
    CHECK (open IN (0, 1))
) WITHOUT ROWID, STRICT;
CREATE UNIQUE INDEX visits_run_id ON visits (run_id) WHERE open = 1;

CREATE TABLE mounts (
    run_id TEXT NOT NULL,
    path TEXT NOT NULL,
    invocation INTEGER NOT NULL,
    within INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    inside INTEGER NOT NULL,
    exit TEXT,
    outcome TEXT,
    code TEXT,
    step_base INTEGER NOT NULL,
    entered_at INTEGER NOT NULL,
    exited_at INTEGER,
    input INTEGER,
    output INTEGER,
    exited INTEGER,
    changed INTEGER NOT NULL,
    PRIMARY KEY (run_id, path),
    CHECK (inside IN (0, 1))
) WITHOUT ROWID, STRICT;

CREATE TABLE effects (
    effect TEXT NOT NULL,
    run_id TEXT NOT NULL,
    effect_type TEXT NOT NULL,
    path TEXT NOT NULL,
    visit INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    contract TEXT NOT NULL,
    state TEXT NOT NULL,
    applications INTEGER NOT NULL,
    generation INTEGER,
    external_reference TEXT,
    code TEXT,
    cause TEXT,
    request INTEGER NOT NULL,
    result INTEGER,
    since INTEGER NOT NULL,
    PRIMARY KEY (effect)
) WITHOUT ROWID, STRICT;
CREATE UNIQUE INDEX effects_run_id_path_visit_effect_type ON effects (run_id, path, visit, effect_type);
CREATE INDEX effects_state ON effects (state) WHERE state = 'ambiguous';

CREATE TABLE requests (
    request TEXT NOT NULL,
    run_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    path TEXT NOT NULL,
    visit INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    session TEXT,
    state TEXT NOT NULL,
    cause TEXT,
    deadline INTEGER,
    protected INTEGER NOT NULL,
    digest TEXT,
    revision INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    unproductive INTEGER NOT NULL,
    submission TEXT,
    "key" TEXT,
    source TEXT,
    opened INTEGER NOT NULL,
    candidate INTEGER,
    rejection INTEGER,
    opened_at INTEGER NOT NULL,
    "limit" INTEGER,
    message TEXT,
    messages INTEGER NOT NULL,
    wake_ups INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    crashed INTEGER NOT NULL,
    PRIMARY KEY (request),
    CHECK (protected IN (0, 1))
) WITHOUT ROWID, STRICT;
CREATE INDEX requests_run_id_path_visit ON requests (run_id, path, visit);
CREATE UNIQUE INDEX requests_run_id_path_visit_attempt ON requests (run_id, path, visit, attempt) WHERE state = 'accepted';
CREATE INDEX requests_state_run_id ON requests (state, run_id) WHERE state IN ('open', 'validating');

CREATE TABLE messages (
    message TEXT NOT NULL,
    run_id TEXT NOT NULL,
    session TEXT NOT NULL,
    "order" INTEGER NOT NULL,
    kind TEXT NOT NULL,
    source TEXT NOT NULL,
    starts_turn INTEGER NOT NULL,
    reason TEXT NOT NULL,
    state TEXT NOT NULL,
    deliveries INTEGER NOT NULL,
    sends INTEGER NOT NULL,
    epoch TEXT,
    entry TEXT,
    content INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (message),
    CHECK (starts_turn IN (0, 1))
) WITHOUT ROWID, STRICT;
CREATE INDEX messages_run_id_state_kind_epoch ON messages (run_id, state, kind, epoch);
CREATE INDEX messages_session_kind_order ON messages (session, kind, "order") WHERE state = 'pending';
CREATE UNIQUE INDEX messages_source ON messages (source) WHERE kind = 'step' AND state = 'pending';

CREATE TABLE turns (
    turn TEXT NOT NULL,
    message TEXT NOT NULL,
    run_id TEXT,
    session TEXT NOT NULL,
    epoch TEXT NOT NULL,
    state TEXT NOT NULL,
    stop_reason TEXT,
    entry TEXT,
    digest TEXT,
    length INTEGER,
    since INTEGER NOT NULL,
    PRIMARY KEY (turn)
) WITHOUT ROWID, STRICT;
CREATE UNIQUE INDEX turns_message ON turns (message) WHERE state = 'open';
CREATE INDEX turns_message_state ON turns (message, state);
CREATE INDEX turns_run_id ON turns (run_id);
CREATE UNIQUE INDEX turns_session ON turns (session) WHERE state = 'open';

CREATE TABLE timers (
    run_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    due INTEGER NOT NULL,
    absolute INTEGER NOT NULL,
    set_at INTEGER NOT NULL,
    PRIMARY KEY (run_id, kind),
    CHECK (absolute IN (0, 1))
) WITHOUT ROWID, STRICT;

CREATE TABLE workers (
    worker TEXT NOT NULL,
    run_id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    progress INTEGER NOT NULL,
    boot TEXT NOT NULL,
    namespace TEXT NOT NULL,
    pid INTEGER NOT NULL,
    start INTEGER NOT NULL,
    state TEXT NOT NULL,
    outcome TEXT,
    phase TEXT,
    code TEXT,
    launched_at INTEGER NOT NULL,
    exited_at INTEGER,
    PRIMARY KEY (worker)
) WITHOUT ROWID, STRICT;
CREATE INDEX workers_run_id ON workers (run_id);
CREATE INDEX workers_state ON workers (state) WHERE state IN ('launched', 'ready');

CREATE TABLE processes (
    boot TEXT NOT NULL,
    namespace TEXT NOT NULL,
    pid INTEGER NOT NULL,
    start INTEGER NOT NULL,
    run_id TEXT NOT NULL,
    worker TEXT NOT NULL,
    PRIMARY KEY (boot, namespace, pid, start)
) WITHOUT ROWID, STRICT;
CREATE INDEX processes_worker ON processes (worker);

CREATE TABLE receipts (
    client TEXT NOT NULL,
    "key" TEXT NOT NULL,
    operation TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    outcome TEXT NOT NULL,
    run_id TEXT,
    first INTEGER,
    PRIMARY KEY (client, "key")
) WITHOUT ROWID, STRICT;
CREATE INDEX receipts_run_id ON receipts (run_id);

CREATE TABLE terminal (
    run_id TEXT NOT NULL,
    outcome TEXT NOT NULL,
    code TEXT,
    phase TEXT,
    message TEXT,
    finished_at INTEGER NOT NULL,
    output INTEGER,
    error INTEGER,
    instructions INTEGER,
    fingerprint TEXT,
    message_due TEXT NOT NULL,
    presentation TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (run_id)
) WITHOUT ROWID, STRICT;
CREATE INDEX terminal_fingerprint ON terminal (fingerprint);
CREATE INDEX terminal_presentation ON terminal (presentation) WHERE presentation IN ('pending', 'failed');

CREATE TABLE definitions (
    digest TEXT NOT NULL,
    workflow TEXT NOT NULL,
    snapshot INTEGER NOT NULL,
    PRIMARY KEY (digest)
) WITHOUT ROWID, STRICT;

CREATE TABLE hosts (
    epoch TEXT NOT NULL,
    version TEXT NOT NULL,
    boot TEXT NOT NULL,
    namespace TEXT NOT NULL,
    pid INTEGER NOT NULL,
    start INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    stopped_at INTEGER,
    PRIMARY KEY (epoch)
) WITHOUT ROWID, STRICT;
