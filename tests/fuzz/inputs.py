"""Bad inputs: values of every kind, and good content spoilt in one place or several."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

_AWKWARD = (
    "", " ", "\0", "\x1b[31m", "..", "../../etc/passwd", "..%2f..%2fcirque.db", "/etc/passwd", "file:///etc/passwd",
    "C:\\Windows\\win.ini", "%00", "%", "%n%s", "{{7*7}}", "${x}", "<script>alert(1)</script>", "' OR 1=1 --", "=1+1",
    "\u202egnp.exe", "ﬀ", "İ", "ß", "🙂" * 40, "e\u0301", "\ufeff", "a" * 70_000, "[" * 3000, "1e999", "NaN",
    "-0", "0x10", "٣", "null", "true", "__proto__", "constructor", "2026-13-45", "\ud800",
)
_NUMBERS = (0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**40, 1e308, -1e-320, 0.1)
_DEEP = [{"of": depth} for depth in (50, 900)]



def weighted(*choices: tuple[int, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    """One of several, each as often as its number says; ``st.one_of`` counts what it is given twice once."""
    drawn = [strategy for times, strategy in choices for _ in range(times)]
    return st.sampled_from(range(len(drawn))).flatmap(lambda place: drawn[place])


texts = st.one_of(st.sampled_from(_AWKWARD), st.text(max_size=40))
scalars = st.one_of(st.none(), st.booleans(), st.sampled_from(_NUMBERS), st.integers(), st.floats(), texts)


def _nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


values = st.one_of(
    scalars, st.builds(_nested, st.sampled_from((40, 400))),
    st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
                 max_leaves=8),
)


def as_json(value: object) -> bytes:
    """As a careless client sends it: NaN, Infinity and halves of characters included."""
    return json.dumps(value).encode()


@st.composite
def spoilt_json(draw: st.DrawFn, good: Any, spare: Sequence[object] = ()) -> Any:
    """``good`` with one to three of its parts replaced, removed, added or moved to another place."""
    whole = json.loads(json.dumps(good))
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(whole))
        if not places:
            return draw(values)
        holder, key = draw(st.sampled_from(places))
        new = draw(st.one_of(values, st.sampled_from(spare)) if spare else values)
        what = draw(st.sampled_from(("replace", "replace", "remove", "add", "repeat")))
        if what == "replace":
            holder[key] = new
        elif what == "remove":
            del holder[key]
        elif isinstance(holder, dict):
            holder[draw(texts)] = new
        else:
            holder.insert(key, holder[key] if what == "repeat" else new)
    return whole


def _places(value: Any) -> Any:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in list(inside):
        yield value, key
        yield from _places(one)


@st.composite
def spoilt_bytes(draw: st.DrawFn, good: bytes) -> bytes:
    """``good`` cut off, with bits turned, with pieces left out, doubled, or other bytes in between."""
    content = bytearray(good)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(content) - 1)))
        length = draw(st.sampled_from((1, 1, 2, 4, 16, 200)))
        what = draw(st.sampled_from(("cut", "turn", "turn", "leave out", "double", "insert", "zeros", "ones")))
        if what == "cut":
            del content[at:]
        elif what == "turn" and content:
            content[at] ^= 1 << draw(st.integers(0, 7))
        elif what == "leave out":
            del content[at:at + length]
        elif what == "double":
            content[at:at] = content[at:at + length]
        elif what == "insert":
            content[at:at] = draw(st.binary(max_size=length))
        elif what in ("zeros", "ones"):
            content[at:at + length] = (b"\0" if what == "zeros" else b"\xff") * min(length, len(content) - at)
    return bytes(content)


def spoilt_file(good: bytes) -> st.SearchStrategy[bytes]:
    """Of any file: its bytes; of JSON and lines of JSON, mostly what they say."""
    choices: list[tuple[int, st.SearchStrategy[bytes]]] = [(3, spoilt_bytes(good)), (1, st.binary(max_size=200))]
    try:
        parsed = json.loads(good)
    except ValueError:
        rows = good.splitlines()
        try:
            records: list[Any] = [json.loads(row) for row in rows]
        except ValueError:
            choices.append((3, _shuffled_rows(rows)))
        else:
            lines = spoilt_json(records).map(
                lambda found: b"\n".join(map(as_json, found)) if isinstance(found, list) else as_json(found))
            choices.append((6, lines))
    else:
        choices.append((6, spoilt_json(parsed).map(as_json)))
    return weighted(*choices)


@st.composite
def _shuffled_rows(draw: st.DrawFn, rows: Sequence[bytes]) -> bytes:
    """Rows of a table or lines of a text in another order, with cells of other kinds."""
    chosen = draw(st.lists(st.sampled_from(rows), max_size=2 * len(rows))) if rows else []
    separator = next((one for one in (b",", b"\t", b";", b" ") if rows and one in rows[0]), b",")
    spoilt = []
    for row in chosen:
        cells = row.split(separator)
        if draw(st.booleans()):
            cells[draw(st.integers(0, len(cells) - 1))] = draw(texts).encode("utf-8", "surrogatepass")
        spoilt.append(separator.join(cells))
    return draw(st.sampled_from((b"\n", b"\r\n", b"\r"))).join(spoilt)


def spoilt_fields(
    required: Sequence[str], optional: Sequence[str], good: Mapping[str, st.SearchStrategy[Any]],
) -> st.SearchStrategy[dict[str, Any]]:
    """Fields of a call: mostly those it takes, each mostly of the kind that ``good`` has for it."""
    def one(name: str) -> st.SearchStrategy[Any]:
        return weighted((6, good[name]), (1, values)) if name in good else values

    few = st.lists(st.sampled_from(optional), max_size=4, unique=True) if optional else st.just([])
    whole = few.flatmap(lambda more: st.fixed_dictionaries({name: one(name) for name in (*required, *more)}))
    anything = st.dictionaries(st.sampled_from([*required, *optional, "other"]), values)
    return weighted((5, whole), (1, anything))
