"""What a method gets of a query under each input, and what its ranks then are.

A colour's vector is (r, g, b, 0.05) of length 1, a text's has 1 for each of its words and 0.05.
"""

from __future__ import annotations

import json
import weakref
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from cir_core.audit.circus.circus_files import write_run
from cir_core.audit.records import VARIANTS, QueryAudit, Ranking, RetrieverRun, pools_digest
from cir_core.audit.retrievers.base import RanksRetriever
from cir_core.audit.retrievers.method_retriever import BlackImages
from cir_core.audit.retrievers.models import LateEncoder, Models, OneAtATime
from cir_core.audit.retrievers.opening import Audited, encoded_again, gallery_of_ranks, open_retrievers
from cir_core.audit.retrievers.specs import RetrieverSpec, parse_retrievers
from cir_core.audit.runner import run_audit
from cir_core.audit.scope import check_targets, limited, over_gallery, validated_here
from cir_core.errors import (
    DatasetError,
    EncoderMismatch,
    EncoderUnavailable,
    GalleryError,
    ImageUnreadable,
    LanguageModelError,
    LanguageModelUnavailable,
    MethodError,
    RelevanceUnavailable,
)
from cir_core.evaluation.query_steps import Problem
from cir_core.gallery.gallery import list_galleries, open_gallery
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.language.tasks import CaptionTask, ConstraintsAnswer, MergeTask, ReflectAnswer
from cir_core.methods.declared import builtin_methods
from cir_core.search.searcher import Searcher
from cir_core.types.records import Reflection, SoftFilter
from tests.fakes.audits import (
    ComposingFakeEncoder,
    InMemoryAuditStore,
    a_benchmark,
    a_card,
    a_method,
    a_query,
    colour_benchmark,
    method_retriever,
)
from tests.fakes.colour_relevance import ColourRelevance
from tests.fakes.colours import colour_gallery
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ReplayingLanguageModel, ScriptedLanguageModel, SilentLanguageModel

METHODS = builtin_methods()
CONSTRAINTS = {"constraints": [ConstraintsAnswer(prescriptive="red", proscriptive="green")]}


@pytest.fixture
def gallery(tmp_path):
    return colour_gallery(tmp_path)


def ranked(gallery, method, queries, variant, *, language=None, encoder=None, pools=None, **options):
    benchmark = a_benchmark(queries, pools or {"": gallery.ids})
    retriever = method_retriever(gallery, benchmark, method, encoder or FakeEncoder(),
                                 language or ScriptedLanguageModel("green"), **options)
    return list(retriever.rank(benchmark.queries, variant))


def test_each_input_alone_dropped(gallery):
    """"blue" is (0, 0, 1, 0.05): r0g0b3 has just that direction, r0g0b2 (0, 0, 2/3, 0.05) is a
    little off, r0g0b1 more. The image alone finds itself first, as the reference stays."""
    query = a_query("q", "r0g3b0", "blue", "r0g0b1", "r0g0b3", "r0g3b0")
    method = a_method("slerp", base="slerp")
    [text] = ranked(gallery, method, [query], "text_only", ablation="drop")
    assert text.ranks[:2] == (3, 1) and text.top[:3] == ("r0g0b3", "r0g0b2", "r0g0b1") and len(text.top) == 20
    [image] = ranked(gallery, method, [query], "image_only", ablation="drop")
    assert image.ranks[2] == 1 and image.top[:3] == ("r0g3b0", "r0g2b0", "r0g1b0")


@pytest.mark.parametrize("name", ["text-only", "image-only", "slerp", "cirevl", "soft", "corr-prf", "corr"])
def test_with_both_inputs_it_is_the_search_itself(gallery, name):
    say = ReflectAnswer(query="blue green", intent="", satisfied=(), problems=(), strategy="")
    method = METHODS[name]
    benchmark = colour_benchmark(gallery, 9)
    language = ReplayingLanguageModel({**CONSTRAINTS, "reflect": [say]}, caption="green")
    found = ranked(gallery, method, benchmark.queries, "multimodal", language=language)
    searcher = Searcher(gallery, FakeEncoder(), language)
    settings = replace(method.settings, exclude="none")
    for query, ranking in zip(benchmark.queries, found, strict=True):
        turn = searcher.turn(searcher.gallery_reference(query.reference_id), query.modification_text, settings, k=20,
                             target_id=query.target_ids[0])
        assert ranking == Ranking((turn.target_rank,), tuple(hit.image_id for hit in turn.hits))


def test_several_targets_have_a_rank_each_also_when_filtered(gallery):
    targets = ("r3g0b0", "r0g0b3", "r1g1b1")
    query = a_query("q", "r0g3b0", "red", *targets)
    method = a_method("soft", base="slerp", soft_filter=SoftFilter())
    language = ReplayingLanguageModel(CONSTRAINTS)
    [ranking] = ranked(gallery, method, [query], "multimodal", language=language)
    alone = [ranked(gallery, method, [replace(query, target_ids=(target,))], "multimodal", language=language)[0]
             for target in targets]
    assert ranking.ranks == tuple(one.ranks[0] for one in alone)


def test_black_image_and_empty_text_go_through_the_whole_method(gallery):
    """Slerp's text has 0.8 of the weight. Black is (0, 0, 0, 1), and so is the empty text."""
    method = a_method("slerp", base="slerp")
    query = a_query("q", "r0g3b0", "red", "r0g3b0")
    [text] = ranked(gallery, method, [query], "text_only")
    assert text.top[0] == "r1g0b0", "red with a share of the fourth axis: the darkest red has most of it"
    [image] = ranked(gallery, method, [query], "image_only")
    assert image.top[0] == "r0g0b0", "0.8 of the weight is the empty text's"


def test_cirevl_alone_with_one_input(gallery):
    """Black is captioned like any image; without a text there is nothing to merge."""
    query = a_query("q", "r0g3b0", "red", "r3g0b0")
    language = ScriptedLanguageModel("green")
    ranked(gallery, METHODS["cirevl"], [query], "text_only", language=language)
    caption, merge = language.asked
    assert isinstance(caption, CaptionTask) and caption.picture.caption is None
    black = caption.picture.load()
    assert black.size == (8, 8) and not np.asarray(black).any()
    assert np.argmax(caption.picture.features) == 3
    assert isinstance(merge, MergeTask) and (merge.caption, merge.modification_text) == ("green", "red")

    language = ScriptedLanguageModel("green")
    [image] = ranked(gallery, METHODS["cirevl"], [query], "image_only", language=language)
    assert [type(task) for task in language.asked] == [CaptionTask]
    assert image.top[0] == "r0g3b0", "the caption is the query"


def test_a_composing_encoder_gets_instruction_newline_text(gallery):
    query = a_query("q", "r0g3b0", "red  dress", "r3g0b0")
    seen = {}
    for variant in VARIANTS:
        encoder = ComposingFakeEncoder()
        ranked(gallery, METHODS["joint"], [query], variant, encoder=encoder, instruction="Find it.")
        [(image, text)] = encoder.composed
        seen[variant] = (bool(np.asarray(image).any()), image.size, text)
    assert seen == {
        "multimodal": (True, (8, 8), "Find it.\nred dress"),
        "text_only": (False, (8, 8), "Find it.\nred dress"),
        "image_only": (True, (8, 8), ""),
    }


def test_black_is_as_large_as_the_reference_and_encoded_once(tmp_path):
    gallery = colour_gallery(tmp_path)
    encoder = FakeEncoder()
    black = BlackImages(encoder)
    first, second = (black.instead_of(gallery, image_id) for image_id in gallery.ids[:2])
    assert (first.image_id, encoder.images) == ("black:8x8", 1)
    assert first.features is second.features and first.picture.digest == second.picture.digest != ""


def test_dropping_is_nothing_for_an_encoder_that_composes(gallery):
    with pytest.raises(MethodError, match="Use --ablation black"):
        ranked(gallery, METHODS["joint"], [], "multimodal", ablation="drop")


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", ["slerp", "cirevl", "soft", "corr-prf"])
def test_batches_and_threads_change_nothing(gallery, name, variant):
    benchmark = colour_benchmark(gallery, 12)
    language = ReplayingLanguageModel(CONSTRAINTS, caption="green")
    together = ranked(gallery, METHODS[name], benchmark.queries, variant, language=language)
    threads = ranked(gallery, METHODS[name], benchmark.queries, variant, language=language, workers=3)
    single = [ranked(gallery, METHODS[name], [query], variant, language=language)[0] for query in benchmark.queries]
    assert together == threads == single


def test_pools_are_ranked_by_themselves_and_their_order_decides_ties(gallery):
    """"zebra" is on no colour's axis, so the three pure dark colours score the same. References
    lie outside the pools."""
    tied = ("r0g0b1", "r0g1b0", "r1g0b0")
    pools = {"up": tied, "down": tied[::-1]}
    queries = [a_query(pool, "r3g3b3", "zebra", *tied, pool=pool) for pool in ("down", "up", "down")]
    encoder = FakeEncoder(words={"zebra": 20})
    method = a_method("text-only", base="text-only")
    found = ranked(gallery, method, queries, "multimodal", encoder=encoder, pools=pools)
    assert [one.ranks for one in found] == [(3, 2, 1), (1, 2, 3), (3, 2, 1)]
    assert [one.top for one in found] == [tied[::-1], tied, tied[::-1]]


def test_what_is_wrong_with_a_query_is_its_own_problem(gallery):
    pools = {"": gallery.ids[:40]}
    inside, outside = gallery.ids[0], gallery.ids[50]
    queries = [
        a_query("fine", outside, "red", inside),
        a_query("hidden", inside, "red"),
        a_query("no target", inside, "red", inside, outside),
        a_query("no reference", "gone", "red", inside),
        a_query("no text", inside, " \n", inside),
        a_query("long", inside, "x" * 1001, inside),
        a_query("fine too", inside, "blue", inside),
    ]
    method = a_method("slerp", base="slerp")
    found = ranked(gallery, method, queries, "multimodal", pools=pools)
    reasons = {query.query_id: one.reason for query, one in zip(queries, found, strict=True)
               if isinstance(one, Problem)}
    assert list(reasons) == ["hidden", "no target", "no reference", "no text", "long"]
    assert reasons["no target"] == f"the target {outside!r} is not among the 40 images that are ranked"
    assert reasons["no reference"] == "the reference 'gone' is not in gallery 'colours'"
    assert all(one.of_query for one in found if isinstance(one, Problem))
    assert [found[0], found[-1]] == ranked(gallery, method, [queries[0], queries[-1]], "multimodal", pools=pools)


@pytest.mark.parametrize(("ablation", "problems"), [("black", 0), ("drop", 1)])
def test_a_method_that_reads_no_text_needs_none(gallery, ablation, problems):
    """As when it is evaluated. Dropping the image leaves nothing of such a query."""
    query = a_query("q", "r0g3b0", " ", "r0g3b0")
    method = a_method("image-only", base="image-only")
    found = [ranked(gallery, method, [query], variant, ablation=ablation)[0] for variant in VARIANTS]
    assert isinstance(found[0], Ranking) and found[0].ranks == (1,) == found[2].ranks
    assert sum(isinstance(one, Problem) and one.of_query for one in found) == problems


def test_what_cannot_be_encoded_with_others_fails_alone(gallery):
    class Picky(FakeEncoder):
        def encode_texts(self, texts):
            if "bad" in texts:
                raise ImageUnreadable("not this one")
            return super().encode_texts(texts)

    queries = [a_query(text, "r0g3b0", text, "r3g0b0") for text in ("red", "bad", "blue")]
    method = a_method("text-only", base="text-only")
    found = ranked(gallery, method, queries, "multimodal", encoder=Picky())
    assert found[1] == Problem("not this one")
    assert found[::2] == ranked(gallery, method, queries[::2], "multimodal")


def test_an_unreadable_image_is_a_problem_for_who_needs_pixels(gallery):
    (gallery.root / "r0g3b0.png").unlink()
    queries = [a_query("gone", "r0g3b0", "red", "r3g0b0"), a_query("there", "r0g2b0", "red", "r3g0b0")]
    gone, there = ranked(gallery, METHODS["joint"], queries, "multimodal", encoder=ComposingFakeEncoder())
    assert gone == Problem("r0g3b0.png is missing.") and isinstance(there, Ranking)
    assert all(isinstance(one, Ranking) for one in ranked(gallery, METHODS["slerp"], queries, "multimodal"))


def test_a_filter_or_round_that_fails_is_not_passed_over(gallery):
    """A search would go on without it; ranks of the base must not count as the method's."""
    queries = [a_query("q", "r0g3b0", "red", "r3g0b0")]
    wrong = LanguageModelError("not JSON")
    for method, role in ((METHODS["soft"], "constraints"), (METHODS["corr"], "reflect")):
        language = ReplayingLanguageModel({role: [wrong]}, caption="green")
        assert ranked(gallery, method, queries, "multimodal", language=language) == [Problem("not JSON")]
        language = ReplayingLanguageModel({role: [LanguageModelUnavailable("away")]}, caption="green")
        with pytest.raises(LanguageModelUnavailable, match="away"):
            ranked(gallery, method, queries, "multimodal", language=language)


def test_the_card_needs_no_model(gallery):
    def load(spec):
        raise AssertionError("loaded")

    benchmark = colour_benchmark(gallery)

    def card(name="slerp", base=benchmark, **options):
        models = Models(load, lambda late: ScriptedLanguageModel())
        audited = Audited(base, base, gallery, gallery.folder.parents[1], **options)
        [retriever] = open_retrievers(parse_retrievers([name], METHODS, []), audited, models)
        return retriever.card()

    plain = card()
    assert plain.digest == card().digest
    assert plain.instruction is None and card("joint").instruction == "" and "language_model" not in plain.identity
    assert card("joint", instruction="Find it").instruction == "Find it"
    assert card("cirevl").identity["language_model"] == "scripted/1"
    assert plain.identity["method"]["exclude"] == "none"
    others = [
        card("cirevl"), card(ablation="drop"), card("mine=slerp"), card(base=limited(benchmark, 5)),
        card(base=replace(benchmark, pools={"": gallery.ids[::-1]})),
    ]
    assert len({plain.digest, *(other.digest for other in others)}) == 6
    assert card(instruction="Find it").digest == plain.digest, "slerp takes none"


def test_the_same_images_elsewhere_have_the_same_card(tmp_path):
    cards = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        gallery = colour_gallery(tmp_path / name)
        benchmark = colour_benchmark(gallery)
        language = ScriptedLanguageModel()
        cards.append(method_retriever(gallery, benchmark, METHODS["cirevl"], FakeEncoder(), language).card())
    assert cards[0] == cards[1] and str(tmp_path) not in repr(cards[0])


def test_a_gallery_without_some_of_the_images_is_refused(gallery):
    benchmark = a_benchmark([], {"": (*gallery.ids, "more", "and more")})
    with pytest.raises(GalleryError, match=r"lacks 2 of the 66 images that are ranked, the first: 'more'"):
        method_retriever(gallery, benchmark, METHODS["slerp"], FakeEncoder(), ScriptedLanguageModel()).card()


def test_closed_it_opens_again(gallery):
    benchmark = colour_benchmark(gallery, 3)
    retriever = method_retriever(gallery, benchmark, METHODS["slerp"], FakeEncoder(), ScriptedLanguageModel())
    first = retriever.rank(benchmark.queries, "text_only")
    retriever.close()
    assert retriever.rank(benchmark.queries, "text_only") == first


# -- encoders ---------------------------------------------------------------------------


def test_an_encoder_is_loaded_late_and_checked(gallery):
    late = LateEncoder(gallery, lambda spec: FakeEncoder(revision="f" * 16))
    assert late.identity == gallery.encoder and late.dim == 32
    with pytest.raises(EncoderMismatch, match="was indexed with"):
        late.encode_texts(["red"])


def test_one_encoder_at_a_time():
    loaded = []

    def load(spec):
        loaded.append(spec)
        return FakeEncoder(spec=spec)

    shelf = OneAtATime(load)
    assert shelf("a") is shelf("a") and shelf("b") is not shelf("a")
    assert loaded == ["a", "b", "a"]


def test_no_two_models_are_in_memory_while_an_audit_changes_encoders(gallery):
    """Also while a gallery is indexed with another one, and with language models that know the encoder."""
    alive: weakref.WeakSet[FakeEncoder] = weakref.WeakSet()
    loaded = []

    def load(spec):
        assert not alive, "the one before is still there"
        loaded.append(spec)
        encoder = FakeEncoder(32 if spec == "fake" else 48, spec=spec)
        encoder.itself = encoder  # as the parts of a model refer to one another
        alive.add(encoder)
        return encoder

    benchmark = colour_benchmark(gallery, 3)
    audited = Audited(benchmark, benchmark, gallery, gallery.folder.parents[1])
    models = Models(load, BuiltinLanguageModel)
    specs = [RetrieverSpec(f"{name} {encoder}", METHODS[name], encoder=encoder) for name, encoder in (
        ("slerp", ""), ("soft", ""), ("slerp", "wide"), ("text-only", ""))]
    outcome = run_audit(benchmark, open_retrievers(specs, audited, models), InMemoryAuditStore())
    assert not outcome.failed and loaded == ["fake", "wide", "fake"] and len(alive) == 1


def test_models_are_shared_by_galleries_in_a_row(tmp_path, gallery):
    (tmp_path / "more").mkdir()
    other = colour_gallery(tmp_path / "more", steps=2)
    models = Models(FakeEncoder, lambda late: ScriptedLanguageModel())
    first = models.of(gallery)
    assert models.of(gallery) is first and models.of(other)[1] is not first[1]


def test_a_gallery_is_indexed_again_with_another_encoder_once(tmp_path, gallery):
    home = tmp_path / "home"
    loads = []

    def load(spec):
        loads.append(spec)
        return FakeEncoder(48, spec=spec)

    told = []
    gallery.max_megapixels = 0.5
    made = encoded_again(gallery, "wide", home, load, lambda name, progress: told.append((name, progress.done)))
    assert (made.ids, made.digest, made.encoder.dim) == (gallery.ids, gallery.digest, 48)
    assert made.max_megapixels == 0.5, "what the gallery could read can be read again"
    assert made.name == f"colours-{48:016x}" == told[-1][0] and told[-1][1] == 64
    assert encoded_again(gallery, "wide", home, load) is made and loads == ["wide"]
    assert encoded_again(gallery, "alias", home, lambda spec: FakeEncoder(spec=spec)) is gallery
    assert len(list_galleries(home)) == 2


# -- what is audited --------------------------------------------------------------------


def test_the_first_queries_of_each_pool():
    queries = [a_query(f"q{i}", "a", "red", "a", pool="xy"[i % 2]) for i in range(6)]
    benchmark = a_benchmark(queries, {"x": ("a",), "y": ("a",)})
    assert [query.query_id for query in limited(benchmark, 2).queries] == ["q0", "q1", "q2", "q3"]
    assert limited(benchmark, None) is benchmark


def test_a_split_without_targets_cannot_be_audited():
    with pytest.raises(DatasetError, match="hides its targets"):
        check_targets(a_benchmark([a_query("q", "a", "red")], {}))
    with pytest.raises(DatasetError, match="has no queries"):
        check_targets(a_benchmark([], {}))
    check_targets(a_benchmark([a_query("q", "a", "red"), a_query("p", "a", "red", "b")], {}))


def test_images_that_the_gallery_lacks_are_left_out_and_said(gallery):
    benchmark = a_benchmark([], {"a": ("gone", *gallery.ids[:3]), "all": None})
    found = over_gallery(benchmark, gallery)
    assert found.pools == {"a": list(gallery.ids[:3]), "all": gallery.ids}
    assert found.notes == ("gallery colours lacks 1 images that the data set ranks (gone): ranks are over the others",)
    with pytest.raises(GalleryError, match="contains none of the 1 images of 'b'"):
        over_gallery(a_benchmark([], {"b": ("gone",)}), gallery)


def test_validated_queries_are_cut_to_what_is_audited():
    whole = a_benchmark([a_query(f"q{i}", "a", "red", "a") for i in range(4)], {"": ("a",)})
    assert validated_here({"q0", "q3"}, limited(whole, 2)) == {"q0"}
    with pytest.raises(DatasetError, match=r"None of the 1 validated queries is among the 2 .*--limit"):
        validated_here({"q3"}, limited(whole, 2))


def test_ranks_that_cannot_be_counted_together_are_found_before_any_is_made(gallery, tmp_path):
    """No model is loaded, and nothing is indexed, to find it out."""
    def load(spec):
        raise AssertionError("loaded")

    benchmark = colour_benchmark(gallery, 3)
    ranks = {query.query_id: {"multimodal": 1, "text_only": 2, "image_only": 3} for query in benchmark.queries}

    def opened(names, *, theirs=None, **options):
        path = tmp_path / "ranks.json"
        content = {"retriever": "theirs", "dataset": "colours", "ranks": ranks, "instruction": theirs}
        path.write_text(json.dumps(content))
        audited = Audited(benchmark, benchmark, gallery, tmp_path, **options)
        models = Models(load, lambda late: ScriptedLanguageModel())
        return open_retrievers(parse_retrievers([f"{names},ranks:{path}"], METHODS, []), audited, models)

    assert len(opened("slerp,joint", instruction="Find it.", theirs="Find it.")) == 3
    assert len(opened("slerp", theirs="Find it.")) == 2, "slerp takes no instruction"
    with pytest.raises(DatasetError, match=r"slerp and theirs differ in how an input was ablated \('drop' and"):
        opened("slerp", ablation="drop")
    joined = replace(benchmark, queries=[replace(query, caption_mode="joined") for query in benchmark.queries])
    one = Ranking((1,))
    audits = [QueryAudit(query.query_id, dict.fromkeys(VARIANTS, one)) for query in joined.queries]
    card = a_card(dataset=joined.name, dataset_digest=joined.digest, pools_digest=pools_digest(joined.pools),
                  caption_mode="joined")
    write_run(tmp_path / "joined.json", RetrieverRun(card, audits), joined)
    with pytest.raises(DatasetError, match=r"joined\.json: .*caption mode of the file \(joined\)"):
        opened(f"slerp,ranks:{tmp_path / 'joined.json'}")
    with pytest.raises(DatasetError, match=r"joint and theirs differ in the instruction \('' and 'Find it\.'\)"):
        opened("joint", theirs="Find it.")


def test_the_gallery_that_ranks_were_made_over_is_found_by_their_card(gallery, tmp_path):
    """The data set's files list no images, as CIRCO's: ranks over the gallery have its images."""
    unlisted = a_benchmark(colour_benchmark(gallery, 3).queries, {"": None})
    over = over_gallery(unlisted, gallery)

    def written(name, benchmark):
        rankings = {variant: Ranking((2,)) for variant in VARIANTS}
        card = a_card(dataset=benchmark.name, dataset_digest=benchmark.digest,
                      pools_digest=pools_digest(benchmark.pools))
        run = RetrieverRun(card, [QueryAudit(query.query_id, rankings) for query in benchmark.queries])
        write_run(tmp_path / name, run, benchmark)
        return tmp_path / name

    own, listless = written("own.json", over), written("listless.json", unlisted)
    elsewhere = tmp_path / "elsewhere.json"
    elsewhere.write_text('{"retriever": "x", "ranks": {}}')
    assert gallery_of_ranks([elsewhere, own], unlisted, gallery) is gallery
    assert gallery_of_ranks([elsewhere, listless], unlisted, gallery) is None
    (tmp_path / "small").mkdir()
    assert gallery_of_ranks([own], unlisted, colour_gallery(tmp_path / "small", steps=2)) is None
    audited = Audited(over, over, gallery, tmp_path)
    models = Models(FakeEncoder, lambda late: ScriptedLanguageModel())
    [back] = open_retrievers(parse_retrievers([f"ranks:{own}"], METHODS, []), audited, models)
    assert back.card().pools_digest == pools_digest(over.pools)


def test_ranks_of_a_file_are_a_retriever_for_part_of_the_queries_too():
    queries = [a_query(f"q{i}", "a", "red", "b") for i in range(3)]
    whole = a_benchmark(queries, {"": ("a", "b")})
    rankings = {variant: Ranking((2,), ("a", "b")) for variant in VARIANTS}
    run = RetrieverRun(a_card(dataset_digest=whole.digest), [
        QueryAudit("q0", rankings), QueryAudit("q1", {}, "could not be read"), QueryAudit("q2", rankings)])
    retriever = RanksRetriever(run, limited(whole, 2))
    assert retriever.card().dataset_digest == limited(whole, 2).digest
    first, second = retriever.rank(whole.queries[:2], "text_only")
    assert first == rankings["text_only"] and second == Problem("could not be read", of_query=True)


# -- how retrievers are written ---------------------------------------------------------


def spec(text, base="base"):
    [one] = parse_retrievers([text], METHODS, ["base", "g2", "atelier"], base)
    return one.name, one.method and one.method.name, one.gallery, one.encoder, one.ranks and str(one.ranks)


@pytest.mark.parametrize(("text", "expected"), [
    ("slerp", ("slerp", "slerp", "", "", None)),
    ("cirevl@g2", ("cirevl@g2", "cirevl", "g2", "", None)),
    ("slerp@atelier", ("slerp@atelier", "slerp", "atelier", "", None)),  # a gallery before an encoder
    ("slerp@ViT-B-32/openai", ("slerp@ViT-B-32/openai", "slerp", "", "ViT-B-32/openai", None)),
    ("text-only@local-dir:/a/clip", ("text-only@clip", "text-only", "", "local-dir:/a/clip", None)),
    ("magiclens:ViT-L-14/openai:/w/m.pt", ("magiclens ViT-L-14/openai (m.pt)", "joint", "",
                                           "magiclens:ViT-L-14/openai:/w/m.pt", None)),
    ("ranks:/a\\,b=c/r.json", ("", None, "", "", "/a,b=c/r.json")),
    ("qwen=ranks:r.json", ("qwen", None, "", "", "r.json")),
    ("My CLIP=slerp@local-dir:/a=b", ("My CLIP", "slerp", "", "local-dir:/a=b", None)),
])
def test_forms(text, expected):
    assert spec(text) == expected


def test_several_in_one_option_or_in_many():
    specs = parse_retrievers(["slerp, cirevl,", "ranks:a.json"], METHODS, [])
    assert [one.name for one in specs] == ["slerp", "cirevl", ""]


@pytest.mark.parametrize(("texts", "message"), [
    (["slurp"], r"no retriever 'slurp'.*text-only.*The galleries are: base"),
    (["slerp@nowhere"], r"neither a gallery nor an encoder after the @.*base"),
    ([""], r"No retriever is named"),
    (["ranks:"], r"does not name a file"),
    (["local-dir:/clip"], r"does not compose.*slerp@local-dir:/clip"),
    (["nonsense:/x"], r"neither a method nor an encoder"),
    (["slerp,slerp"], r"Two retrievers are called 'slerp'"),
    (["slerp,slerp@base"], r"slerp and slerp@base are the same"),
    (["a=ranks:r.json,b=ranks:./r.json"], r"same retriever"),
])
def test_what_is_no_retriever_has_a_sentence(texts, message):
    with pytest.raises(MethodError, match=f"(?s){message}"):
        parse_retrievers(texts, METHODS, ["base"], "base")


def test_a_gallery_must_be_named(gallery):
    benchmark = colour_benchmark(gallery)
    audited = Audited(benchmark, benchmark, None, gallery.folder)
    with pytest.raises(GalleryError, match="--gallery"):
        open_retrievers(parse_retrievers(["slerp"], METHODS, []), audited, Models(FakeEncoder, lambda late: None))


def test_a_missing_encoder_is_found_out_when_it_is_needed(gallery):
    def load(spec):
        raise EncoderUnavailable("no weights")

    benchmark = colour_benchmark(gallery)
    audited = Audited(benchmark, benchmark, gallery, gallery.folder.parents[1])
    [retriever] = open_retrievers(parse_retrievers(["slerp@ViT-B-32/openai"], METHODS, []), audited,
                                  Models(load, lambda late: ScriptedLanguageModel()))
    with pytest.raises(EncoderUnavailable, match="no weights"):
        retriever.card()
    assert open_gallery("colours", home=gallery.folder.parents[1]) is gallery


def test_reflection_sees_the_pool_alone(gallery):
    """Pseudo-feedback takes the mean of the best of the pool; images outside cannot be in it."""
    pool = ("r0g3b0", "r3g0b0")
    method = a_method("prf", base="text-only", reflection=Reflection(1, images=1, fusion="pseudo-feedback"))
    [found] = ranked(gallery, method, [a_query("q", "r0g0b3", "blue", *pool)], "multimodal", pools={"": pool})
    assert sorted(found.ranks) == [1, 2]


# --- CIRQRS in the pool ----------------------------------------------------------------------

IDENTITY = "cir_core.audit.retrievers.method_retriever.configured_model"


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
