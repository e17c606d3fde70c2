"""Tasks for language models, with validated answers.

A new role is a new task: the :class:`~cir_core.language.base.LanguageModel` protocol does not change.
"""

from typing import Any

from cir_core.language.tasks.base import A, Answer, Domain, Picture, Task
from cir_core.language.tasks.forms import FormAnswer, FormTask
from cir_core.language.tasks.reflect import (
    FreeReflectAnswer,
    FreeReflectTask,
    ReflectAnswer,
    ReflectTask,
    SilentReflectAnswer,
    SilentReflectTask,
)
from cir_core.language.tasks.sessions import DifferenceAnswer, DifferenceTask, JudgeAnswer, JudgeTask
from cir_core.language.tasks.soft import (
    ConfidenceAnswer,
    ConfidenceTask,
    ConstraintsAnswer,
    ConstraintsTask,
    RewriteAnswer,
    RewriteTask,
    TwoSentencesAnswer,
    TwoSentencesTask,
)
from cir_core.language.tasks.text import (
    AspectAnswer,
    AspectsAnswer,
    AspectsTask,
    CaptionAnswer,
    CaptionTask,
    MergeAnswer,
    MergeTask,
)

__all__ = [
    "A", "Answer", "AspectAnswer", "AspectsAnswer", "AspectsTask", "CaptionAnswer", "CaptionTask", "ConfidenceAnswer",
    "ConfidenceTask", "ConstraintsAnswer",
    "ConstraintsTask", "DifferenceAnswer", "DifferenceTask", "Domain", "FormAnswer", "FormTask",
    "FreeReflectAnswer", "FreeReflectTask",
    "JudgeAnswer", "JudgeTask", "MergeAnswer",
    "MergeTask", "Picture", "ROLES", "ReflectAnswer", "ReflectTask", "RewriteAnswer", "RewriteTask",
    "SilentReflectAnswer", "SilentReflectTask", "Task",
    "TwoSentencesAnswer", "TwoSentencesTask",
]

ROLES: dict[str, type[Task[Any]]] = {
    task.role: task for task in (
        CaptionTask, MergeTask, AspectsTask, ConstraintsTask, ReflectTask, FreeReflectTask, SilentReflectTask,
        DifferenceTask, ConfidenceTask, RewriteTask, JudgeTask, TwoSentencesTask, FormTask,
    )
}
