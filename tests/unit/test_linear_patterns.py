"""No regular expression of the product takes more than linear time, whatever text it meets."""

from __future__ import annotations

import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import FrameType
from typing import Any

import pytest

from tests.fakes.patterns import Use, files, hostile_to, uses

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no timers of CPU time")

SIZES = (32, 400, 2_000, 8_000)      # characters; the first against patterns that take exponential time
WORTH = 0.004       # seconds of CPU below which nothing can be measured
DOUBLED = 3.2       # twice the text may take so many times the time; quadratic is 4
PATIENCE = 1.0      # seconds of CPU for one text of any size
# Files whose patterns take long to look at: into so many tests.
PARTS = {"cir_core/language/builtin/reading/rewording.py": 10}
OFTEN = 3            # of these parts; the others are of the same tables, one pattern a word


@cache
def given() -> dict[str, list[re.Pattern[Any]]]:
    """Patterns that are only known while the product runs. Its tables are read for some of them: not at collection."""
    from cir_core.language.builtin.reading.rewording import _patterns
    from cir_core.language.builtin.seeing import _wordings
    from cir_core.language.openai.call import FEATURES
    from storage.engine import errors

    return {
        "cir_core/language/builtin/reading/rewording.py: pattern": [pattern for pattern, _ in _patterns()],
        "cir_core/language/openai/call.py: pattern": [re.compile(one, re.IGNORECASE) for one in FEATURES.values()],
        "storage/engine/errors.py: pattern": [pattern for pattern, _ in errors._BY_MESSAGE],
        r"cir_core/language/builtin/seeing.py: '\\b(' + '|'.join(sorted(map(re.escape, words), key=len, reverse=True)) "
        r"+ ')\\b'": [_wordings()[1]],
        # The tokens of models, escaped and one of several: nothing in it repeats.
        "cir_core/encoders/files/model_folders.py: '|'.join(map(re.escape, words))": [re.compile("<image>|<s>|</s>")],
    }


@cache
def uses_in(file: str) -> list[Use]:
    return list(uses(file, given()))


@pytest.mark.parametrize(("file", "part"), [
    pytest.param(file, part, marks=() if part < OFTEN else pytest.mark.extended)
    for file in files() for part in range(PARTS.get(file, 1))])
def test_no_pattern_takes_more_than_linear_time(file: str, part: int) -> None:
    wrong = [fault for use in uses_in(file)[part::PARTS.get(file, 1)] for fault in faults_of(use)]
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.parametrize(("pattern", "method"), [
    (r"\b[\w+]+://\S*@[^\s/]*/", "sub"), ("(“[^”]*”)", "split"), (r"(a+)+b", "search"), (r"\s+\Z", "search"),
    (r"<[^>]*>", "sub"), (r"(x|xx)*y", "match"),
])
def test_patterns_that_are_slow_are_found(pattern: str, method: str) -> None:
    compiled = re.compile(pattern)
    assert any(more_than_linear(applied(compiled, method), *text) for text in hostile_to(compiled))


def test_all_patterns_are_found() -> None:
    every = [use for file in files() for use in uses_in(file)]
    found = {use.where.split(":")[0] for use in every}
    assert {"web/http/public_errors.py", "annotation/studies/input_limits.py", "cir_core/images/uploads.py",
            "storage/backups/postgres_dumps.py"} <= found
    assert len(every) > 60
    assert {use.method for use in every if "input_limits.py" in use.where} == {"fullmatch"}


def faults_of(use: Use) -> list[str]:
    apply = applied(use.pattern, use.method)
    # Measured again where it seems so: what else the machine does may fall on one of three sizes.
    return sorted({f"{use.where}, {use.method} of {use.pattern.pattern!r}: {begin!r} + {piece!r} × n + {end!r}: {found}"
                   for begin, piece, end in hostile_to(use.pattern)
                   if (found := more_than_linear(apply, begin, piece, end))
                   and more_than_linear(apply, begin, piece, end)})


def more_than_linear(apply: Callable[[str], object], begin: str, piece: str, end: str) -> str:
    """What was measured where twice the text takes much more than twice the time; empty where it does not."""
    def seconds(size: int, runs: int = 1) -> float:
        text = begin + piece * (size // len(piece)) + end
        return min(_cpu(apply, text) for _ in range(runs))

    before = (0, 0.0)
    for size in SIZES:
        try:
            now = seconds(size, 3 if size < SIZES[2] else 1)
        except TooLong:
            return f"over {PATIENCE:g} s for {size:,} characters"
        if before[0] and now > WORTH and now > before[1] * size / before[0]:
            # Perhaps: at three sizes, each twice the one before, all of them long enough to be measured.
            whole = size
            while whole > 64 and seconds(whole // 4, 3) > WORTH:
                whole //= 2
            times = [seconds(part, 3) for part in (whole // 4, whole // 2, whole)]
            if times[2] > DOUBLED * times[1] and times[1] > DOUBLED * times[0]:
                return f"{', '.join(f'{one * 1000:.1f} ms' for one in times)} for {whole // 4:,} characters and twice"
            if size == SIZES[-1] and times[0] > WORTH and times[2] / times[0] > DOUBLED ** 2:
                return f"{times[2] / times[0]:.0f} times the time for four times the text"
        if before[0] >= SIZES[1] and now <= before[1] * size / before[0]:
            break      # not even in proportion, from so few characters to so many: more of them tell nothing. Of fewer
                       # characters it is mostly the call itself that takes time.
        before = (size, now)
    return ""


def applied(pattern: re.Pattern[Any], method: str) -> Callable[[str], object]:
    def apply(text: str) -> object:
        given: Any = text.encode("utf-8", "replace") if isinstance(pattern.pattern, bytes) else text
        if method in ("sub", "subn"):
            return getattr(pattern, method)(given[:0], given)
        found = getattr(pattern, method)(given)
        return sum(1 for _ in found) if method == "finditer" else found

    return apply


class TooLong(Exception):
    """More than :data:`PATIENCE` for one text."""


def _cpu(apply: Callable[[str], object], text: str) -> float:
    began = time.thread_time()
    with _patience():
        apply(text)
    return time.thread_time() - began


@contextmanager
def _patience() -> Iterator[None]:
    def late(_signal: int, _frame: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
