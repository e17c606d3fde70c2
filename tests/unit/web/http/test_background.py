"""Threads that nobody waits for at the end."""

import threading
from concurrent.futures import CancelledError

import pytest

from web.http.background import BackgroundPool


def test_what_is_under_way_is_told_and_nothing_more_begins():
    threads, go, began = BackgroundPool(1, "test"), threading.Event(), threading.Event()

    def work():
        began.set()
        return go.wait(60)

    assert not threads.busy
    first, second = threads.submit(work), threads.submit(work)
    assert began.wait(60) and threads.busy
    assert threads.shutdown()
    with pytest.raises(RuntimeError):
        threads.submit(work)
    go.set()
    assert first.result(60) is True
    with pytest.raises(CancelledError):
        second.result(60)
    assert not threads.busy and not threads.shutdown()


def test_failures_and_ends_are_no_work():
    threads = BackgroundPool(2, "test")
    assert threads.submit(lambda: 7).result(60) == 7
    with pytest.raises(ZeroDivisionError):
        threads.submit(lambda: 1 / 0).result(60)
    assert not threads.shutdown()
