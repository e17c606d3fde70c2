"""Work on the items of a job a few at a time; a failing one fails alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from cir_core.errors import (
    ENDS_A_RUN,
    CirqueError,
    LanguageModelError,
    LanguageModelUnavailable,
    Stopped,
    TryLater,
    UnknownImage,
)
from cir_core.jobs.journal import ItemResult
from cir_core.jobs.spending import ItemWatch, Spending
from cir_core.types.composition import Usage

Work = tuple[int, Callable[[ItemWatch], Mapping[str, Any]]]
"""The number of an item in the journal, and what makes its result."""

PATIENCE = 20
"""Items in a row that a language model may fail at before the run ends."""
_WAITS = 30     # for images of too many megapixels at one time


@dataclass(frozen=True)
class _Outcome:
    """An item that is finished; or that is not, with the error that ends the run (None: the run was stopped)."""

    finished: ItemResult | None
    usage: Usage
    error: CirqueError | None = None
    failed_at_model: bool = False


class Workers:
    """``put`` receives every finished item, ``spend`` the usage of an unfinished one; both from the calling
    thread."""

    def __init__(self, spending: Spending, put: Callable[[ItemResult], None], spend: Callable[[Usage], None]) -> None:
        self._spending, self._put, self._spend = spending, put, spend
        self._in_a_row, self._loaded = 0, False

    def run(self, work: Iterable[Work], workers: int) -> None:
        """Returns when all of ``work`` is done, or when the spending is stopped.

        Raises what ends a run (:data:`~cir_core.errors.ENDS_A_RUN`), and ``LanguageModelError`` once
        ``PATIENCE`` items in a row failed at the language model. However it ends, finished items are put.
        """
        waiting: set[Future[_Outcome]] = set()
        with ThreadPoolExecutor(workers, thread_name_prefix="item") as pool:
            try:
                for item in work:
                    if self._spending.stopped:
                        break
                    if len(waiting) >= 2 * workers:
                        self._collect(waiting)
                    waiting.add(pool.submit(self._make, *item))
                while waiting:
                    self._collect(waiting)
            except BaseException as error:
                self._spending.stop()
                if isinstance(error, KeyboardInterrupt | LanguageModelUnavailable):
                    self._spending.shutdown()    # a person waits, or the server does not answer
                for future in waiting:
                    future.cancel()
                for future in wait(waiting).done:
                    if not future.cancelled() and future.exception() is None:
                        self._keep(future.result())
                raise

    def _collect(self, waiting: set[Future[_Outcome]]) -> None:
        """Wait for one or more of ``waiting`` and remove it, once it is kept. Raises what ends the run."""
        for future in wait(waiting, return_when=FIRST_COMPLETED).done:
            waiting.discard(future)
            outcome = future.result()
            self._keep(outcome)
            if outcome.error is not None:
                raise outcome.error
            self._in_a_row = self._in_a_row + 1 if outcome.failed_at_model else 0
            if self._in_a_row == PATIENCE and outcome.finished:
                raise LanguageModelError(f"The language model failed {PATIENCE} times in a row, the last time: "
                                         f"{outcome.finished.failure} Connect another model (docs/language-models.md), "
                                         "then go on with --resume --retry-failed.")

    def _keep(self, outcome: _Outcome) -> None:
        if outcome.finished is not None:
            self._put(outcome.finished)
        else:
            self._spend(outcome.usage)

    def _make(self, item: int, make: Callable[[ItemWatch], Mapping[str, Any]]) -> _Outcome:
        watch, began, cold = ItemWatch(self._spending), time.perf_counter(), not self._loaded

        def finished(result: Mapping[str, Any] | None, failure: str = "") -> ItemResult:
            return ItemResult(item, result, failure, watch.usage, time.perf_counter() - began, cold)

        try:
            result = _patiently(lambda: make(watch))
            self._loaded = True
            return _Outcome(finished(result), watch.usage)
        except Stopped:
            return _Outcome(None, watch.usage)
        except UnknownImage as error:   # concerns this item alone, unlike other errors of galleries
            return _Outcome(finished(None, str(error)), watch.usage)
        except ENDS_A_RUN as error:
            self._spending.stop()       # at once: otherwise this thread would begin the next item
            return _Outcome(None, watch.usage, error)
        except LanguageModelError as error:
            return _Outcome(finished(None, str(error)), watch.usage, failed_at_model=True)
        except CirqueError as error:
            return _Outcome(finished(None, str(error)), watch.usage)


def _patiently(make: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
    """``make``, again after a refusal that is only temporary: too many large images are being decoded."""
    for _ in range(_WAITS):
        try:
            return make()
        except TryLater as error:
            time.sleep(error.seconds)
    return make()
