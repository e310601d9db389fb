"""How much patience a host has with its workers; each number with its reason."""

from typing import Final

#: Seconds from the envelope to `ready`. Importing a large project from a cold disk takes some; a minute takes none.
START_UP: Final = 60.0

#: Seconds beyond a node's deadline. The worker ends the attempt itself and needs up to six for what it started:
#: two between SIGTERM and SIGKILL, as much again, and as much for pipes that stay open.
DEADLINE_GRACE: Final = 10.0

#: Seconds for the step after a time-out: a declared retry may sleep five before it, a function that cannot be stopped
#: never lets it come.
AFTERWARDS: Final = 10.0

#: Seconds in which a worker that said how it ended, or that was told that its claim is gone, exits by itself.
EXIT_GRACE: Final = 10.0

#: Seconds between SIGTERM and SIGKILL (page 05, "Pause and cancel").
TERM_GRACE: Final = 2.0

#: Seconds in which a killed process session has to be empty (page 05, "Claims").
KILL_GRACE: Final = 10.0

#: Seconds in which a host that has just stood still listens before it judges anybody's silence.
HEARING: Final = 1.0

#: Renewals of a lease while it lasts: every ten seconds of thirty (page 05, "Claims").
RENEWALS: Final = 3

#: Beats of a host that has workers while a lease lasts: three to each half of it.
BEATS: Final = 6

#: Messages a second that one worker may send for long, and at once. A step is one, and waits for its commit.
MESSAGES_A_SECOND: Final = 5_000.0
MESSAGES_AT_ONCE: Final = 20_000.0

#: The same for renewals, of which one is due every ten seconds.
RENEWALS_A_SECOND: Final = 1.0
RENEWALS_AT_ONCE: Final = 64.0

#: Messages of a worker that are read before their predecessors are answered; more wait in its own pipe.
READ_AHEAD: Final = 4

#: Answers that are kept for a repeated message. A worker repeats only what it has not heard the answer to.
ANSWERS_KEPT: Final = 256

#: Seconds for which a worker's transitions are tried again while the store cannot take them, and between two tries.
STORE_PATIENCE: Final = 60.0
STORE_PAUSE: Final = 0.5

#: Seconds between two tries to record a worker's end: nothing may carry its run on before. A host that stops leaves it
#: to the next one after so many.
RECORD_PAUSE: Final = 1.0
RECORD_TRIES: Final = 5

#: Seconds between two tries to have a process while the system gives none.
SPAWN_PAUSE: Final = 1.0

#: Seconds that workers may take to come to a boundary when the host stops, unless it is told otherwise.
DRAIN_GRACE: Final = 10.0

#: Seconds for one answer about a workflow's code: loading it, and the thirty that a presentation function may take.
RESOLVE: Final = START_UP + 30.0

#: Questions about code that are asked at once; more wait in line. One that takes longer than these seconds, because its
#: module never ends for one, waits on beside them: nobody's start is held up by it. So many there are at most.
RESOLVERS: Final = 4
QUICK: Final = 2.0
MOST_RESOLVERS: Final = 16
