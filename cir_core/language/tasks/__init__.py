"""Tasks for language models, with validated answers.

A new role is a new task: the :class:`~cir_core.language.base.LanguageModel` protocol does not change.
"""

from typing import Any

from cir_core.language.tasks.base import A as A
from cir_core.language.tasks.base import Answer as Answer
from cir_core.language.tasks.base import Domain as Domain
from cir_core.language.tasks.base import Picture as Picture
from cir_core.language.tasks.base import Task as Task
from cir_core.language.tasks.constraints import ConstraintsAnswer as ConstraintsAnswer
from cir_core.language.tasks.constraints import ConstraintsTask as ConstraintsTask
from cir_core.language.tasks.reflect import ReflectAnswer as ReflectAnswer
from cir_core.language.tasks.reflect import ReflectTask as ReflectTask
from cir_core.language.tasks.sessions import DifferenceAnswer as DifferenceAnswer
from cir_core.language.tasks.sessions import DifferenceTask as DifferenceTask
from cir_core.language.tasks.sessions import JudgeAnswer as JudgeAnswer
from cir_core.language.tasks.sessions import JudgeTask as JudgeTask
from cir_core.language.tasks.targets import ConfidenceAnswer as ConfidenceAnswer
from cir_core.language.tasks.targets import ConfidenceTask as ConfidenceTask
from cir_core.language.tasks.targets import RewriteAnswer as RewriteAnswer
from cir_core.language.tasks.targets import RewriteTask as RewriteTask
from cir_core.language.tasks.targets import TwoSentencesAnswer as TwoSentencesAnswer
from cir_core.language.tasks.targets import TwoSentencesTask as TwoSentencesTask
from cir_core.language.tasks.text import CaptionAnswer as CaptionAnswer
from cir_core.language.tasks.text import CaptionTask as CaptionTask
from cir_core.language.tasks.text import MergeAnswer as MergeAnswer
from cir_core.language.tasks.text import MergeTask as MergeTask

ROLES: dict[str, type[Task[Any]]] = {
    task.role: task for task in (
        CaptionTask, MergeTask, ConstraintsTask, ReflectTask, DifferenceTask, ConfidenceTask, RewriteTask,
        JudgeTask, TwoSentencesTask,
    )
}
