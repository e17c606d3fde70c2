"""How the query of a turn was composed: enough to show it, to change one part and rank again
without a language model, and to continue after a restart."""

from __future__ import annotations

from dataclasses import dataclass, field

from cir_core.types.methods import Parts, SoftFilter, StepParts
from cir_core.types.vectors import Vector


@dataclass(frozen=True)
class Marks:
    """Results of the previous turn that the user marked, besides the one they picked."""

    more_like: tuple[str, ...] = ()
    less_like: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.more_like or self.less_like)


@dataclass(frozen=True)
class Constraints:
    """SoFT's constraints from the language model, possibly edited by the user. Several texts on one side count with
    their mean similarity; an empty side is left out."""

    keep: tuple[str, ...] = ()
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    prescriptive: tuple[str, ...] = ()   # what the wanted image shows
    proscriptive: tuple[str, ...] = ()   # what the reference shows and the wanted image must not
    edited: bool = False                 # changed by the user


@dataclass(frozen=True)
class Usage:
    """Language-model usage of a turn. ``cost`` is None when no price is set."""

    calls: int = 0               # requests that went to a server
    cached: int = 0              # answers from the cache
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None    # in the currency the prices are set in
    models: tuple[str, ...] = () # models that answered, each once, in order
    stand_ins: tuple[str, ...] = () # those of them that answered for one that was unavailable

    def __add__(self, other: Usage) -> Usage:
        known = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            self.calls + other.calls, self.cached + other.cached,
            self.prompt_tokens + other.prompt_tokens, self.completion_tokens + other.completion_tokens,
            sum(known) if known else None, tuple(dict.fromkeys((*self.models, *other.models))),
            tuple(dict.fromkeys((*self.stand_ins, *other.stand_ins))),
        )


@dataclass(frozen=True)
class ReflectionRound:
    """One round of CoRR: the model's reading of the candidates, and the query it wrote."""

    number: int                       # 1 is the first round
    query: str                        # refined query; empty for pseudo-feedback
    intent: str = ""
    satisfied: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    strategy: str = ""
    looked_at: tuple[str, ...] = ()   # image ids, best first; the first ``pictures`` were shown as images
    pictures: int = 0
    notes: tuple[str, ...] = ()
    edited: bool = False              # query rewritten by the user
    milliseconds: float = 0.0
    vector: Vector | None = field(default=None, compare=False, repr=False)  # u_t, unit length


@dataclass(frozen=True)
class Wording:
    """Caption of the reference, and the query that was encoded."""

    caption: str
    merged_text: str


@dataclass(frozen=True)
class Cut:
    """An uploaded reference that was cut out of ``source_id``. ``region`` is left, top, width and height as fractions
    of the source's width and height."""

    image_id: str
    source_id: str
    region: tuple[float, float, float, float]


@dataclass(frozen=True)
class Composition(StepParts):
    """Everything between the person's words and the turn's ``vector``. ``terms`` sum up to v_0, the query before any
    reflection. ``base`` is this turn's own vector f_l, before history: later turns aggregate it."""

    base: Vector = field(compare=False, repr=False)
    terms: tuple[tuple[str, Vector], ...] = field(compare=False, repr=False)
    rounds: tuple[ReflectionRound, ...] = ()
    marks: Marks = Marks()
    constraints: Constraints | None = None
    soft_filter: SoftFilter | None = None   # the λ and mode these hits were ranked with
    usage: Usage = Usage()
    edited: Wording | None = None           # as they were before the user edited one of them
    read_as: str = ""                       # the modification text without references to results; "" if it has none
    further: tuple[str, ...] = ()           # references beside the turn's first, in the order given
    cuts: tuple[Cut, ...] = ()              # those of the references that were cut out of another image
    step_parts: Parts = ()                  # what further kinds of steps keep


@dataclass(frozen=True)
class Adjustment(StepParts):
    """A change to a finished turn that needs no language model.

    ``constraints`` and ``soft_filter`` replace those of the turn when given. ``rounds`` is the number of its reflection
    rounds to apply; ``rewritten`` replaces the query of the last of them. ``wording`` replaces the texts that the turn
    began with.
    """

    constraints: Constraints | None = None
    soft_filter: SoftFilter | None = None
    rounds: int | None = None
    rewritten: str | None = None
    wording: Wording | None = None
    step_parts: Parts = ()   # what replaces settings of further kinds of steps
    usage: Usage = field(default=Usage(), compare=False)   # of what was asked for ``wording``

    def __bool__(self) -> bool:
        return self != Adjustment()
