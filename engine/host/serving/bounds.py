"""How much a host does for its clients at once; each number with its reason."""

from typing import Final

#: Connections. Each may hold an unfinished frame and an upload, so this bounds memory; an adapter has two of them, one
#: to follow and one to tell, so it bounds the sessions at work as well.
MOST_CONNECTIONS: Final = 512
#: Connections that the kernel keeps waiting, and seconds until another one is taken where one could not be.
BACKLOG: Final = 128
AGAIN: Final = 0.5
#: Calls of one connection that are under way; what is quick or a command is counted apart from long questions.
MOST_CALLS: Final = 64
#: Subscriptions of one connection, each with a task.
MOST_SUBSCRIPTIONS: Final = 32
#: Threads for long questions, and how many may wait for one.
LONG_THREADS: Final = 4
MOST_LONG: Final = 128
#: Threads for quick questions; they never wait behind long ones.
QUICK_THREADS: Final = 2
MOST_QUICK: Final = 1024
#: Seconds in which a new connection has to say hello.
HELLO: Final = 10.0
#: Bytes of a frame that is read in a thread: 16 MiB take half a second, and the loop serves everybody.
LARGE: Final = 64 * 1024
#: Seconds in which a client that is left takes what it was sent last.
LAST_WORDS: Final = 1.0
#: Seconds between two views of one subscription: more is not seen, and each costs a fold of what came.
VIEW_PAUSE: Final = 0.1
RUNS_PAUSE: Final = 0.5
#: Seconds between two views of a session: a coordinator waits for what its report led to.
SESSION_PAUSE: Final = 0.01
#: Seconds after which a message that waits for evidence is shown again: a little more than its absence proves nothing.
EVIDENCE_PAUSE: Final = 61.0
#: Seconds after which a coordinator without a connection is missed: a host that is started anew takes a moment, and so
#: does an adapter until it has attached to that.
ABSENCE: Final = 30.0
#: Sessions whose coordinators are watched.
MOST_WATCHED: Final = 10_000
#: Runs whose sessions are remembered.
MOST_RUNS_KNOWN: Final = 4096
#: Seconds between two looks at an output log that somebody follows.
LINES_PAUSE: Final = 0.25
#: Bytes of an unsent reply above which a connection's next one waits.
HIGH_WATER: Final = 256 * 1024
#: Events that one page looks through for those that were asked for.
MOST_SCANNED: Final = 5_000
#: Keys of chores that are remembered.
MOST_CHORES: Final = 256
