"""The sample gallery as a benchmark for methods: one turn in FashionIQ's protocol, then
sessions that are the same for all of them, with intervals and paired differences.

    from cir_core.evaluate_sample import evaluate_sample
    from cir_core.methods.declared import Method, builtin_methods

    mine = Method("mine", "Slerp, a little filtered", "", MethodSettings(base="slerp", soft_filter=SoftFilter(0.2)))
    report = evaluate_sample(gallery, folder, encoder, language, [builtin_methods()["slerp"], mine],
                             seed=1, against="slerp")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from cir_core.atelier.ground_truth import read_attributes
from cir_core.composition import Usage
from cir_core.datasets.fashioniq import CATEGORIES, FashionIQQuery, read_queries, read_split
from cir_core.encoders.base import Encoder, composes
from cir_core.errors import MethodError
from cir_core.evaluate_sessions import CONSTRUCTION, FixedSession, build_sessions, digest_of, neutral_sessions, replay
from cir_core.evaluate_single import (
    MEASURES,
    SCOPE,
    Category,
    Progress,
    SingleTurn,
    single_turn,
    single_turn_values,
    without_exclusions,
)
from cir_core.gallery import Gallery
from cir_core.language.base import LanguageModel
from cir_core.methods.declared import Method, find_method
from cir_core.metrics.bootstrap import Estimate, Values, estimates
from cir_core.metrics.multi_turn import MultiTurnScores, multi_turn_scores, session_values
from cir_core.protocol import make_card
from cir_core.remembering import RememberingEncoder
from cir_core.search import Searcher
from cir_core.types import ProtocolCard
