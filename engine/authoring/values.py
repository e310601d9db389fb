"""The small values that workflow code uses, gathered from where each kind stands."""

from runwright.engine.authoring.observations import Absent as Absent
from runwright.engine.authoring.observations import Observation as Observation
from runwright.engine.authoring.observations import Present as Present
from runwright.engine.authoring.observations import Recovery as Recovery
from runwright.engine.authoring.observations import Uncertain as Uncertain
from runwright.engine.authoring.observations import Unclear as Unclear
from runwright.engine.authoring.questions import Choice as Choice
from runwright.engine.authoring.questions import Decided as Decided
from runwright.engine.authoring.questions import Question as Question
from runwright.engine.authoring.results import NodeError as NodeError
from runwright.engine.authoring.results import NodeResult as NodeResult
from runwright.engine.authoring.shell import Command as Command
from runwright.engine.authoring.shell import OutputFile as OutputFile
from runwright.engine.authoring.shell import ShellResult as ShellResult
from runwright.engine.authoring.times import Retry as Retry
from runwright.engine.authoring.times import days as days
from runwright.engine.authoring.times import hours as hours
from runwright.engine.authoring.times import minutes as minutes
from runwright.engine.authoring.times import seconds as seconds
