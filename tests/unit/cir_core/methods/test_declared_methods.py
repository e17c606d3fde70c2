"""Methods by name: what a TOML file may say, and the sentence for what it may not."""

import dataclasses

import pytest

from cir_core.errors import MethodError
from cir_core.methods.declared import all_methods, builtin_methods, find_method, name_of, read_methods
from cir_core.types.methods import MethodSettings, Reflection, SoftFilter

BUILTIN = (
    "text-only", "image-only", "slerp", "joint", "cirevl", "latest", "average", "weighted", "soft", "soft-reward",
    "soft-penalty", "corr", "corr-linear", "corr-replace", "corr-prf", "corr-free", "corr-silent", "slerp-soft",
    "slerp-corr", "joint-soft", "joint-corr", "corr-soft", "guided", "cirqrs", "guided-cirqrs", "cirevl-cirqrs",
)


@pytest.fixture
def file(tmp_path):
    def written(text):
        path = tmp_path / "methods.toml"
        path.write_text(text, encoding="utf-8")
        return path
    return written


def test_the_built_in_methods_and_their_papers_parameters():
    methods = builtin_methods()
    assert tuple(methods) == BUILTIN
    assert methods["cirevl"].settings == MethodSettings()
    assert methods["soft"].settings.soft_filter == SoftFilter(weight=1.0, mode="both")
    # CoRR: T = 2 rounds, K = 5 pictures, N = 10 captions, α = 0.8
    assert methods["corr"].settings.reflection == Reflection(2, 5, 10, "slerp", 0.8, False)
    # Its ablations of the prompt (table 4) differ in the prompt alone; SoFT's λ over SEARLE is 0.2.
    assert methods["corr-free"].settings.reflection == Reflection(reasoning="free")
    assert methods["corr-silent"].settings.reflection == Reflection(reasoning="silent")
    assert methods["joint-soft"].settings == MethodSettings(base="joint", soft_filter=SoftFilter(0.2))
    assert methods["corr-soft"].settings == MethodSettings(reflection=Reflection(), soft_filter=SoftFilter())
    assert all(method.source and method.title != name for name, method in methods.items())


def test_no_two_methods_are_the_same_and_each_is_known_by_its_settings():
    methods = builtin_methods()
    assert len({method.settings for method in methods.values()}) == len(methods)
    for name, method in methods.items():
        assert name_of(dataclasses.replace(method.settings, exclude="none"), methods) == name
    assert name_of(MethodSettings(alpha=0.5), methods) is None


def test_a_file_of_ones_own(file):
    path = file("""
        [methods.mine]
        title = "Slerp, filtered a little"
        base = "slerp"
        text_weight = 0.6
        soft_filter = { weight = 0.2 }

        [methods.bare]
        [methods.slow.reflection]
        rounds = 4
        fusion = "linear"
    """)
    mine = read_methods(path)
    assert tuple(mine) == ("mine", "bare", "slow")
    assert mine["mine"].title == "Slerp, filtered a little"
    assert mine["mine"].settings == MethodSettings(base="slerp", text_weight=0.6, soft_filter=SoftFilter(0.2))
    assert mine["bare"].settings == MethodSettings() and mine["bare"].title == "bare"
    assert mine["slow"].settings.reflection == Reflection(rounds=4, fusion="linear")
    assert tuple(all_methods(path)) == (*BUILTIN, "mine", "bare", "slow")
    assert all_methods() == builtin_methods()


@pytest.mark.parametrize(("text", "words"), [
    ("[methods.x]\nbase = 'clip'", ("'x', base", "'cirevl'")),
    ("[methods.x]\nsoft_filter = { weight = 2 }", ("'x', soft_filter.weight", "less than or equal to 1")),
    ("[methods.x]\nreflection = { rounds = 0 }", ("'x', reflection.rounds", "greater than or equal to 1")),
    ("[methods.x]\ngama = 0.4", ("'x', gama",)),
    ("[methods.x]\nsoft_filter = { lambda = 1 }", ("'x', soft_filter",)),
    ("[methods]\nx = 3", ("'x'",)),
    ("[methods.'Bad Name']\n", ("'Bad Name'", "lower-case")),
    ("[other.x]\n", ("[methods.NAME]",)),
    ("", ("[methods.NAME]",)),
    ("[methods.x", ("not valid TOML",)),
    ("[methods.cirevl]\nalpha = 0.1", ("'cirevl'", "another name")),
    ("[methods.custom]\nalpha = 0.1", ("'custom'", "another name")),
    ("[methods.none]\n", ("'none'", "another name")),
    ("[methods.all]\n", ("'all'", "another name")),
    ("[methods.x]\nreflection = { rounds = true }", ("'x', reflection.rounds", "true is not a number")),
    ("[methods.x]\nalpha = false", ("'x', alpha", "false is not a number")),
    ("[methods.x]\nsoft_filter = { weight = '1' }", ("'x', soft_filter.weight", "'1' is not a number")),
    ("[methods.x]\nreflection = { rounds = 1.5 }", ("'x', reflection.rounds",)),
    ("[methods.x]\nalpha = nan", ("'x', alpha", "nan is not a number")),
    ("[methods.x]\nalpha = inf", ("'x', alpha", "less than or equal to 2")),
    ("[methods.x]\nreflection = 2", ("'x', reflection", "a table like reflection")),
    ("[methods]\na = 3", ("'a'", "a table like [methods.a]")),
])
def test_mistakes_name_file_method_and_field(file, text, words):
    path = file(text)
    with pytest.raises(MethodError) as raised:
        all_methods(path)
    for word in (str(path), *words):
        assert word in str(raised.value)


def test_a_file_that_cannot_be_read(tmp_path, file):
    with pytest.raises(MethodError, match="CIRQUE_METHODS"):
        read_methods(tmp_path / "none.toml")
    path = file("")
    path.write_bytes(b"[methods.\xff]")
    with pytest.raises(MethodError, match="UTF-8"):
        read_methods(path)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(MethodError, match=r"'sofd'.*text-only.*corr-soft"):
        find_method("sofd", builtin_methods())
    assert find_method("soft", builtin_methods()).title == "CIReVL + SoFT"
