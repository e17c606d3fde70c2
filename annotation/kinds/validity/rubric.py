"""What judges are asked, as it is written in ``assets/rubrics``: flags, reasons, words and examples.

A rubric is text to be reviewed, so it is a TOML file. Its name and version are a study's
``protocol``: judgements say with them what their author had read. A study may have a file of its own. A version
that people have judged with is never changed; another wording is another version, in a file beside it
(:mod:`annotation.studies.protocols`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from annotation.records import Study
from annotation.studies.protocols import (
    OwnFile,
    Part,
    Protocol,
    Text,
    asked_by,
    chosen,
    load_protocol,
    newest_protocol,
    parse_toml,
    placed,
)
from cir_core.errors import StudyError
from cir_core.support.texts import quoted

CIRCUS = "circus"
"""The rubric of validity studies, by its name."""
VALIDATED = "VALIDATED"
INVALID_UNSPECIFIED = "INVALID_UNSPECIFIED"
"""Found invalid, but no flag says why: so in some released annotations (Trap T-24)."""
INVALID_REASONS_DIFFER = "INVALID_REASONS_DIFFER"
"""Found invalid by most, but for different reasons: no flag has a majority. Of final labels, not of single answers."""
UNLABELLED = "UNLABELLED"
"""No verdict: not answered, or left to an adjudicator."""

_Code = Annotated[str, Field(pattern=r"^[A-Z][A-Z_]*$")]
_Key = Annotated[str, Field(pattern=r"^[1-9]$")]
_Letter = Annotated[str, Field(pattern=r"^[a-z]$")]
_EXAMPLES = 2   # at least, of each category that has any
_SCREEN_KEYS = frozenset("djknopruz")   # letters that the screens use for other things
_FOLDER = Path(__file__).resolve().parents[3] / "assets" / "rubrics"


class Example(Part):
    """A query in words, and how it is judged."""

    reference: Text
    text: Text
    target: Text
    verdict: _Code                          # the primary category
    reasons: tuple[str, ...] = ()
    because: Text


class SubReason(Part):
    key: _Letter
    code: str = ""                          # the flag's key and this one: "1a"; made when it is loaded
    name: Text
    needs_note: bool = False


class Flag(Part):
    """One way not to be well-formed. ``severity`` 1 is the most severe; ``key`` is its place in the flow. ``show_if``:
    asked only if these earlier flags are set (true) or not (false)."""

    code: _Code
    key: _Key
    severity: int = Field(ge=1)
    name: Text
    question: Text
    definition: Text
    reasons: tuple[SubReason, ...] = ()
    examples: tuple[Example, ...] = ()
    show_if: dict[_Code, bool] = Field(default={})


class Impossible(Part):
    """Flags and reasons that exclude each other, set (true) or not (false). ``says`` tells why, and what to do."""

    when: dict[str, bool] = Field(min_length=1)
    says: Text


class Valid(Part):
    code: _Code
    key: _Key
    name: Text
    short: Text = "All answers are yes."    # beside its name on the screen
    definition: Text
    examples: tuple[Example, ...] = ()


class Rubric(Protocol):
    title: Text = "Is this a good query?"
    intro: Text
    flow: tuple[Text, ...] = Field(min_length=1)     # the questions in the order in which they are asked
    about_severity: Text
    about_unsure: Text
    unsure_after: int = Field(ge=0)                   # seconds, after which "unsure" is offered
    broad_at: int = Field(ge=1)                       # equally good images that make a query too broad
    valid: Valid
    flags: tuple[Flag, ...] = Field(min_length=1)     # in order of their keys
    impossible: tuple[Impossible, ...] = ()

    @cached_property
    def severity(self) -> tuple[str, ...]:
        """Codes of the flags, the most severe first."""
        return tuple(flag.code for flag in sorted(self.flags, key=lambda flag: flag.severity))

    def flag(self, code: str) -> Flag | None:
        return next((flag for flag in self.flags if flag.code == code), None)

    def reason(self, code: str) -> tuple[Flag, SubReason] | None:
        """The sub-reason "1a" with the flag it belongs to."""
        return next(((flag, reason) for flag in self.flags for reason in flag.reasons if reason.code == code), None)

    def by_severity(self, codes: Iterable[str]) -> tuple[str, ...]:
        """Those of ``codes`` that are flags here, each once, the most severe first."""
        there = frozenset(codes)
        return tuple(code for code in self.severity if code in there)

    def asked(self, codes: Iterable[str]) -> frozenset[str]:
        """Those of ``codes``, of flags, that are asked beside the others."""
        given = frozenset(codes)
        kept: frozenset[str] = frozenset()
        for flag in self.flags:
            if flag.code in given and _holds(flag.show_if, kept):
                kept |= {flag.code}
        return kept

    def contradiction(self, codes: Iterable[str]) -> str:
        """What is said of flags and reasons that exclude each other; "" if none do."""
        given = frozenset(codes)
        return next((one.says for one in self.impossible if _holds(one.when, given)), "")

    def category(self, validated: bool | None, flags: Iterable[str]) -> str:
        """The primary category of a verdict: the most severe flag, ``INVALID_UNSPECIFIED`` without any."""
        if validated is None:
            return UNLABELLED
        return self.valid.code if validated else next(iter(self.by_severity(flags)), INVALID_UNSPECIFIED)


def _holds(when: Mapping[str, bool], given: frozenset[str]) -> bool:
    return all((code in given) == wanted for code, wanted in when.items())


def load_rubric(protocol: str) -> Rubric:
    """The rubric of a protocol of cirque's. Raises ``StudyError`` for one that cirque does not have, or is broken."""
    return _load(_FOLDER, protocol)


def newest_rubric() -> Rubric:
    """What a new study is made with; a study that is there has its own."""
    return load_rubric(newest_protocol(_FOLDER, CIRCUS))


def rubric_of(study: Study) -> Rubric:
    """What ``study`` asks: a file of its own, or one of cirque's."""
    return asked_by(study, load_rubric, parse_rubric)


def choose_rubric(own: OwnFile | None, others: Callable[[], Iterable[Study]]) -> tuple[Rubric, dict[str, str]]:
    """:func:`annotation.studies.protocols.chosen`."""
    return chosen(_FOLDER, own, newest_rubric, parse_rubric, others)


@lru_cache
def _load(folder: Path, protocol: str) -> Rubric:
    return load_protocol(folder, protocol, "rubric", parse_rubric)


@lru_cache
def parse_rubric(text: str, where: str) -> Rubric:
    """A rubric from its TOML. ``where`` names the file in the ``StudyError`` for what is wrong in it."""
    rubric = parse_toml(Rubric, text, where, _with_codes)
    for field, problem, remedy in _contradictions(rubric):
        place = [int(part) if part.isdigit() else part for part in field.split(".")]
        raise StudyError(f"{placed(where, text, place)}, {field}: {problem}. {remedy}.")
    return rubric


def _with_codes(content: dict[str, Any]) -> dict[str, Any]:
    for flag in _tables(content.get("flags")):
        for reason in _tables(flag.get("reasons")):
            reason.setdefault("code", f"{flag.get('key')}{reason.get('key')}")
    return content


def _tables(value: object) -> list[dict[str, Any]]:
    return [table for table in value if isinstance(table, dict)] if isinstance(value, list) else []


def _contradictions(rubric: Rubric) -> Iterable[tuple[str, str, str]]:
    """Field, problem and remedy of what the types let pass."""
    categories: tuple[Flag | Valid, ...] = (*rubric.flags, rubric.valid)
    for field, values in (
        ("code", [category.code for category in categories]),
        ("key", [category.key for category in categories]),
        ("severity", [str(flag.severity) for flag in rubric.flags]),
    ):
        if twice := _twice(values):
            yield f"flags.{field}", f"{twice} occurs twice", f"Give each category its own {field}"
    if rubric.valid.code != VALIDATED:
        yield "valid.code", f"it is {rubric.valid.code}", f"Write {VALIDATED}: this is its name in result files"
    for number, flag in enumerate(rubric.flags):
        if twice := _twice([reason.key for reason in flag.reasons]):
            yield f"flags.{number}.reasons.key", f"{twice} occurs twice", "Give each reason its own letter"
        if taken := sorted(_SCREEN_KEYS.intersection(reason.key for reason in flag.reasons)):
            yield (f"flags.{number}.reasons.key", f"{taken[0]} is a key of the screen",
                   f"Choose a letter other than {', '.join(sorted(_SCREEN_KEYS))}")
        for reason in flag.reasons:
            if reason.code != flag.key + reason.key:
                yield (f"flags.{number}.reasons.code", f"{quoted(reason.code)} is not {quoted(flag.key + reason.key)}",
                       "Leave the code out: it is made of the two keys")
    if [flag.key for flag in rubric.flags] != sorted(flag.key for flag in rubric.flags):
        yield "flags", "the flags are not in order of their keys", "Put them in the order in which they are asked"
    if len(rubric.flow) != len(rubric.flags):
        yield "flow", f"it has {len(rubric.flow)} questions for {len(rubric.flags)} flags", "Ask one for each flag"
    yield from _unfit_examples(rubric, categories)
    yield from _unfit_conditions(rubric)


def _unfit_conditions(rubric: Rubric) -> Iterable[tuple[str, str, str]]:
    flags = [flag.code for flag in rubric.flags]
    known = {*flags, *(reason.code for flag in rubric.flags for reason in flag.reasons)}
    for number, flag in enumerate(rubric.flags):
        if later := sorted(set(flag.show_if) - set(flags[:number])):
            yield f"flags.{number}.show_if", f"{later[0]} is not an earlier flag", f"Name one of: {', '.join(flags)}"
    for number, rule in enumerate(rubric.impossible):
        if unknown := sorted(set(rule.when) - known):
            yield (f"impossible.{number}.when", f"{quoted(unknown[0])} is neither a flag nor a reason",
                   f"Name some of: {', '.join(sorted(known))}")
        elif not any(rule.when.values()):
            yield f"impossible.{number}.when", "nothing in it is set", "Give one of them the value true"


def _unfit_examples(rubric: Rubric, categories: Iterable[Flag | Valid]) -> Iterable[tuple[str, str, str]]:
    known = {category.code for category in categories}
    for category in categories:
        field = f"examples of {category.code}"
        for example in category.examples:
            if example.verdict not in known:
                yield field, f"the verdict {example.verdict} is not a category", "Name one of the rubric's"
            if unknown := [code for code in example.reasons if rubric.reason(code) is None]:
                yield field, f"{quoted(unknown[0])} is not a reason", "Name one like 1a"
        own = sum(example.verdict == category.code for example in category.examples)
        if category.examples and own < _EXAMPLES:
            yield field, f"{own} of them have its verdict", f"Write at least {_EXAMPLES}"


def _twice(values: Iterable[str]) -> str:
    return next((value for value, count in Counter(values).items() if count > 1), "")


def as_page(rubric: Rubric, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The rubric as plain JSON for the screen, with the study's own ``unsure_after`` and ``broad_at``."""
    page: dict[str, Any] = rubric.model_dump(mode="json")
    for name in ("unsure_after", "broad_at"):
        value = settings.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            page[name] = value
    return {name: _filled(value, str(page["broad_at"])) for name, value in page.items()}


def _filled(value: object, broad_at: str) -> object:
    """With the study's number wherever a text has ``{broad_at}``."""
    if isinstance(value, str):
        return value.replace("{broad_at}", broad_at)
    if isinstance(value, list):
        return [_filled(one, broad_at) for one in value]
    return {name: _filled(one, broad_at) for name, one in value.items()} if isinstance(value, dict) else value
