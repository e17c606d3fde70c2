"""TOML that would stop the reader: refused in words."""

import tomllib

import pytest

from cir_core.support.toml_files import load_toml


def test_what_is_usual_is_read():
    assert load_toml('[a]\nb = [1, { c = "d" }]\n') == {"a": {"b": [1, {"c": "d"}]}}


@pytest.mark.parametrize(("text", "said"), [
    ("a = " + "[" * 4000, "nested more than 50 levels"), ("a = " + "{a=" * 3000, "nested more than 50 levels"),
    ("a." * 60 + "a = 1", "nested more than 50 levels"), ("[" + "a." * 4000 + "a]", "nested more than 50 levels"),
    ("a." * 100_000 + "a = 1", "line 1 has more than 10,000 characters"), ("a=1\n" * 300_000, "262,144 characters"),
    ("a = " + "9" * 5000, "4300 digits"), ("a = ", "Invalid value"),
])
def test_what_is_not_is_refused_in_words(text, said, monkeypatch):
    read, genuine = [], tomllib.loads
    monkeypatch.setattr(tomllib, "loads", lambda text: read.append(text) or genuine(text))
    with pytest.raises(ValueError, match=said):
        load_toml(text)
    # What tomllib is given it reads within a second: the time it takes is quadratic in the length of a line.
    assert all(len(one) < 2**19 and max(map(len, one.splitlines())) <= 10_000 for one in read)
