"""People who take part in a preference study over the named calls, gates and all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tests.fakes.studies import rated, solved
from tests.integration.crowd import Refused, Worker

FIRST_CHECK = 3      # after so many answers
NEVER_RIGHT = 99     # more than two single digits make


@dataclass
class Rater(Worker):
    """Does what stands before them and answers every question. The first check is answered wrongly, once."""

    seen: dict[str, tuple[list[str], list[str]]] = field(default_factory=dict)   # pictures of A and of B, by item
    noted: list[str] = field(default_factory=list)      # tokens of answers to gates that were acknowledged
    code: str = ""

    def rate_everything(self) -> None:
        """Until the code, or the first complaint."""
        try:
            workspace = self.insisting(lambda: self.call("next_question", self.study, ""))
            while not self._is_over(workspace):
                workspace = self.insisting(partial(self._go_on, workspace))
        except Exception as error:
            self.complaints.append(f"{type(error).__name__}: {error}")

    def rate(self, item: str, answer: Mapping[str, Any], token: str) -> Any:
        return self.keep("save_rating", item, dict(answer), token)

    def pass_gate(self, gate: Mapping[str, Any], token: str, **changes: Any) -> Any:
        """The right answer to a gate, or with ``changes``; whether it is passed, and the desk."""
        sent = solved(gate) | changes
        found = self.call("pass_gate", self.study, sent["kind"], token, sent.get("number"), sent.get("attempt"),
                          sent.get("answer"))
        self.noted.append(token)
        return found

    def token_at(self, *place: object) -> str:
        return "-".join(map(str, (self.name.replace(" ", "-"), *place)))

    def _is_over(self, workspace: Mapping[str, Any]) -> bool:
        gate = workspace["gate"]
        if gate is None and workspace["item"] is None:
            raise AssertionError(f"{self.name} has neither a question nor a gate: {workspace}")
        if gate is not None and gate["kind"] == "finished":
            self.code = gate["code"]
        return bool(self.code)

    def _go_on(self, workspace: Mapping[str, Any]) -> Any:
        """The same calls with the same tokens for the same desk."""
        gate, item = workspace["gate"], workspace["item"]
        if gate is not None:
            token = self.token_at(gate["kind"], gate.get("number", 0), gate.get("attempt", 0))
            wrong = is_wrong(gate)
            found = self.pass_gate(gate, token, **({"answer": NEVER_RIGHT} if wrong else {}))
            assert found["passed"] is not wrong
            return found["desk"]
        position = item["position"]
        self.seen[item["id"]] = tuple([picture["token"] for picture in item["sets"][side]] for side in "AB")
        answer = an_answer(self.name, position)
        if answer["confirmed"]:
            self._is_asked(item["id"], answer | {"confirmed": False}, self.token_at("unsure", position))
        return self.rate(item["id"], answer, self.token_at("question", position))

    def _is_asked(self, item: str, answer: Mapping[str, Any], token: str) -> None:
        try:
            self.rate(item, answer, token)
        except Refused as refused:
            if "Is that what you meant" not in str(refused):
                raise
        else:
            raise AssertionError(f"{self.name} was not asked about {answer}")


def an_answer(name: str, position: int) -> dict[str, Any]:
    """In shown terms. It differs from person to person; at every fourth position the lower set is preferred."""
    number = int(name.rpartition(" ")[2])
    one, other = 1 + (number + position) % 5, 1 + (3 * number + 2 * position) % 5
    better = "A" if one > other else "B"
    against = position % 4 == 3 and one != other
    preferred = {"A": "B", "B": "A"}[better] if against else better
    return rated(one, other, preferred, reason=f"at {position}", confirmed=against)


def is_wrong(gate: Mapping[str, Any]) -> bool:
    """Whether this is the check that everybody gets wrong: the first attempt at the first one."""
    return gate["kind"] == "check" and (gate["number"], gate["attempt"]) == (FIRST_CHECK, 0)

