"""Calls that wait for one row do not take all the threads."""

from __future__ import annotations

import asyncio

import pytest

from cir_core.errors import StorageError
from tests.fakes.loops import run
from web.http.public_errors import public_message
from web.limits.rates import ConcurrencyLimit, ConcurrencyLimits

ANN, BEN = ConcurrencyLimit("person", "Ann", 2), ConcurrencyLimit("person", "Ben", 2)
STUDY, OTHER = ConcurrencyLimit("study", "One", 3), ConcurrencyLimit("study", "Two", 3)


def test_no_more_than_a_share_at_a_time_and_in_order():
    inside, most, order = [0], [0], []

    async def call(shares, number):
        async with shares.within(ANN, STUDY):
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            order.append(number)
            for _ in range(9):    # the others may come in meanwhile
                await asyncio.sleep(0)
            inside[0] -= 1

    async def story():
        shares = ConcurrencyLimits()
        await asyncio.gather(*(call(shares, number) for number in range(7)))
        return len(shares._gates)

    assert run(story()) == 0, "nothing is kept of what is over"
    assert most == [2] and order == list(range(7))


def test_others_go_on_and_who_waits_in_vain_is_told():
    async def story():
        shares, end, done = ConcurrencyLimits(patience=0.05), asyncio.Event(), []

        async def held(*of):
            async with shares.within(*of):
                await end.wait()

        blocked = [asyncio.create_task(held(ANN, STUDY)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(StorageError) as refused:
            async with shares.within(ANN, STUDY):
                done.append("Ann has two already")
        async with shares.within(BEN, STUDY):
            done.append("another person")
            with pytest.raises(StorageError):
                async with shares.within(ConcurrencyLimit("person", "Eve", 2), STUDY):
                    done.append("the study has three already")
            async with shares.within(ConcurrencyLimit("person", "Eve", 2), OTHER):
                done.append("another study")
        end.set()
        await asyncio.gather(*blocked)
        async with shares.within(ANN, STUDY):
            done.append("Ann again")
        return public_message(refused.value), done

    told, done = run(story())
    assert "try again in a moment" in told
    assert done == ["another person", "another study", "Ann again"]
