"""Calls of the benchmarks screen."""

from __future__ import annotations

from typing import Any

from starlette.testclient import TestClient


def get(client: TestClient, path: str) -> Any:
    answer = client.get(f"/benchmarks/{path}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def problem(client: TestClient, path: str, **sent: Any) -> str:
    answer = client.post(f"/benchmarks/{path}", json=sent) if sent else client.get(f"/benchmarks/{path}")
    assert 400 <= answer.status_code < 500, answer.text
    return str(answer.json()["problem"])
