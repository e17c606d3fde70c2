"""CIRQRS in an audit's pool: what it is given under each input, and what its card says."""

from types import SimpleNamespace

import pytest

from cir_core.audit.records import VARIANTS
from cir_core.errors import RelevanceUnavailable
from cir_core.methods.declared import builtin_methods
from cir_core.search.searcher import Searcher
from tests.fakes.audits import colour_benchmark, method_retriever
from tests.fakes.colour_relevance import ColourRelevance
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import SilentLanguageModel

IDENTITY = "cir_core.audit.retrievers.identity.configured_model"


@pytest.fixture
def relevance(gallery, monkeypatch):
    scores = ColourRelevance(gallery)
    monkeypatch.setitem(Searcher.__init__.__kwdefaults__, "relevance", lambda _: scores)
    monkeypatch.setattr(IDENTITY, lambda: SimpleNamespace(identity=SimpleNamespace(revision=scores.revision)))
    return scores


def retriever(gallery, method="cirqrs"):
    method_of = builtin_methods()[method]
    return method_retriever(gallery, colour_benchmark(gallery, 6), method_of, FakeEncoder(), SilentLanguageModel())


def test_each_input_is_taken_away_as_the_ablation_says(gallery, relevance):
    benchmark = colour_benchmark(gallery, 6)
    asked = {}
    for variant in VARIANTS:
        relevance.asked.clear()
        rankings = retriever(gallery).rank(benchmark.queries, variant)
        assert len(rankings) == len(benchmark.queries) and all(one.ranks for one in rankings)
        asked[variant] = list(relevance.asked)
    texts = [query.modification_text for query in benchmark.queries]
    colours = [tuple(85 * int(query.reference_id[place]) for place in (1, 3, 5)) for query in benchmark.queries]
    assert asked["multimodal"] == list(zip(colours, texts, strict=True))
    assert asked["text_only"] == [((0, 0, 0), text) for text in texts], "a black image"
    assert asked["image_only"] == [(colour, "") for colour in colours], "an empty text"


def test_the_card_depends_on_the_model(gallery, relevance):
    card = retriever(gallery).card()
    assert card.identity["relevance"] == "c" * 16 and "relevance" not in retriever(gallery, "slerp").card().identity
    relevance.revision = "d" * 16
    assert retriever(gallery).card().digest != card.digest


def test_without_a_model_it_cannot_be_used(gallery, monkeypatch):
    def missing():
        raise RelevanceUnavailable("Needs a relevance model.")

    monkeypatch.setattr(IDENTITY, missing)
    with pytest.raises(RelevanceUnavailable, match="relevance model"):
        retriever(gallery).card()
