"""Galleries whose index is on a Milvus server: the embedded one, over its wire."""

from __future__ import annotations

import importlib.util
import json
import logging
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import grpc
import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from benchmarks.embedded_milvus import MilvusProcess
from cir_core.encoders import Encoder, load_encoder
from cir_core.errors import GalleryError, IndexUnavailable
from cir_core.gallery.gallery import Gallery, open_gallery
from cir_core.gallery.indexing import index_folder
from cir_core.images.uploads import UploadFolder
from cir_core.index import building
from cir_core.index.approximate import ApproximateIndex
from cir_core.index.building import build_index, discard_index
from cir_core.index.engines import maker_of
from cir_core.index.flat import FlatIndex
from cir_core.index.measuring import sample_queries
from cir_core.index.milvus import collection as collections
from cir_core.index.milvus.collection import Collection
from cir_core.index.milvus.engine import MilvusIndex
from cir_core.index.milvus.server import MilvusServer, address_of, server_at
from cir_core.index.stored import open_index
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.methods.declared import builtin_methods
from cir_core.methods.references import Previous
from cir_core.search.searcher import Searcher
from cir_core.sessions.pool import SearcherPool
from cir_core.sessions.service import SearchService
from cir_core.settings import get_settings
from storage.stores import open_stores
from tests.fakes import drawn
from tests.fakes.databases import settings_of
from tests.fakes.encoder import FakeEncoder
from tests.fakes.patience import PATIENCE
from tests.fakes.vector_galleries import DIM, NAME, index_anew, vector_gallery

GARMENTS = 240
REQUESTS = ("in red, with long sleeves", "shorter, without the belt")
SLICE = ("slerp", "weighted", "soft", "guided")


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MilvusProcess]:
    running = MilvusProcess(tmp_path_factory.mktemp("milvus"), PATIENCE)
    yield running
    running.kill()


@pytest.fixture
def server(process: MilvusProcess, patience: None) -> Iterator[MilvusProcess]:
    """Empty."""
    yield process
    for name in on_server(process, ""):
        Collection(server_at(process.address), name, 0, 0).drop()


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A busy machine is no server that is away, and few queries measure these small indexes."""
    monkeypatch.setenv("CIRQUE_MILVUS_TIMEOUT", str(PATIENCE))
    monkeypatch.setattr(building, "sample_queries", partial(sample_queries, each=4))
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


@pytest.fixture
def gallery(tmp_path: Path) -> Gallery:
    return vector_gallery(tmp_path, size=600)


@pytest.fixture
def small_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collections, "_BATCH", 50 * 4 * DIM)
    monkeypatch.setattr(collections, "_NOTED", 100)


def build(home: Path, server: MilvusProcess, index: str = "flat", name: str = NAME, **options):
    return build_index(name, home=home, kind=f"milvus:{server.address}?index={index}", **options)


def opened(gallery: Gallery) -> ApproximateIndex:
    index, problem = open_index(gallery)
    assert isinstance(index, ApproximateIndex), problem
    return index


def on_server(server: MilvusProcess, gallery: str = NAME) -> list[str]:
    return [name for name in server_at(server.address).call(lambda client: client.list_collections(timeout=60))
            if name.startswith(f"cirque_{gallery}")]


def led_to(server: MilvusProcess, gallery: str = NAME) -> str:
    return server_at(server.address).call(
        lambda client: client.describe_alias(f"cirque_{gallery}", timeout=60))["collection_name"]


def listed(hits):
    return [(hit.image_id, hit.score, hit.rank) for hit in hits]


# Lists.


def test_lists_are_those_of_exact_search(server, gallery, tmp_path, monkeypatch):
    stored = build(tmp_path, server)
    assert stored.figures.worst == (1.0, 1.0) and stored.row.startswith("milvus (Milvus ")
    assert server.address not in stored.row, "where the server is does not belong in protocol cards"
    index, exact = opened(gallery), FlatIndex(gallery.features, gallery.ids)
    for query in sample_queries(gallery.features, each=4, seed=1)["between"]:
        first = [hit.image_id for hit in exact.search(query, 10)]
        for filtered in (4096, 0):    # by the server, or by asking for more
            monkeypatch.setattr(collections, "_FILTERED", filtered)
            for exclude in ((), first[:3]):
                assert listed(index.search(query, 10, exclude)) == listed(exact.search(query, 10, exclude))


@pytest.mark.parametrize("index", ["hnsw", "ivf_sq8"])
def test_approximate_kinds_find_most_and_give_exact_scores(server, gallery, tmp_path, index):
    stored = build(tmp_path, server, index, recall=0.9)
    assert min(stored.figures.worst) >= 0.9 and index.upper() in stored.description
    query = sample_queries(gallery.features, each=1, seed=1)["near"][0]
    scores = {hit.image_id: hit.score for hit in FlatIndex(gallery.features, gallery.ids).search(query, len(gallery))}
    hits = opened(gallery).search(query, 10)
    assert [hit.score for hit in hits] == [scores[hit.image_id] for hit in hits]


@pytest.fixture(scope="module")
def garments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return drawn.home(tmp_path_factory.mktemp("home"), GARMENTS)


@pytest.fixture(scope="module")
def composing(tmp_path_factory: pytest.TempPathFactory, garments: Path) -> Encoder:
    """That of the gallery ``composed``: the sample's, and a Pic2Word mapping with random weights."""
    path, parts = tmp_path_factory.mktemp("mapping") / "mapping.safetensors", torch.Generator().manual_seed(0)
    sizes = {"layers.0.0": (20, 192), "layers.1.0": (20, 20), "fc_out": (160, 20)}
    save_file({f"{name}.{part}": torch.randn(size[:1 if part == "bias" else 2], generator=parts)
               for name, size in sizes.items() for part in ("weight", "bias")}, path)
    encoder = load_encoder(f"pic2word:atelier:{path}")
    index_folder(open_gallery("atelier", home=garments).root, name="composed", encoder=encoder, home=garments)
    return encoder


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=() if name in SLICE else pytest.mark.extended) for name in builtin_methods()])
def test_methods_give_the_lists_of_exact_search(server, garments, name, monkeypatch, request):
    method = builtin_methods()[name].settings
    where, encoder = "atelier", load_encoder("atelier")
    if method.base == "joint":
        where, encoder = "composed", request.getfixturevalue("composing")
    gallery = open_gallery(where, home=garments)
    build(garments, server, name=where)
    asked, candidates = [], MilvusIndex.candidates
    monkeypatch.setattr(MilvusIndex, "candidates", lambda *given: asked.append(given[0]) or candidates(*given))
    language = BuiltinLanguageModel(encoder)
    both = [Searcher(gallery, encoder, language, index=index) for index in (opened(gallery), None)]
    for reference in (gallery.ids[5], gallery.ids[90]):
        ours, theirs = ([], [])
        for searcher, found in zip(both, (ours, theirs), strict=True):
            first = searcher.turn(searcher.gallery_reference(reference), REQUESTS[0], method, k=30)
            after = Previous(first.vector, first.hits, (reference,))
            second = searcher.turn(searcher.gallery_reference(first.hits[0].image_id), REQUESTS[1], method, k=30,
                                   previous=after, target_id=gallery.ids[33])
            found += [first, second]
        assert [listed(turn.hits) for turn in ours] == [listed(turn.hits) for turn in theirs]
        assert ours[1].target_rank == theirs[1].target_rank
        assert [hit.parts for hit in ours[1].hits] == [hit.parts for hit in theirs[1].hits]
    assert asked or name == "cirqrs", "nothing went over the wire"   # the learned score of all images has no vector


# The server is away.


def test_a_session_goes_on_after_the_server_was_away(server, garments, tmp_path):
    """Searches of its galleries say so meanwhile, others go on, and nothing is lost."""
    vector_gallery(garments, size=300)    # searched exactly
    build(garments, server, name="atelier")
    pool = SearcherPool(garments, BuiltinLanguageModel,
                        lambda spec: FakeEncoder(DIM) if spec == "fake" else load_encoder(spec))
    stores = open_stores(settings_of(tmp_path))
    service = SearchService(pool, stores.sessions, UploadFolder(tmp_path / "uploads", max_megapixels=4))
    session = service.start("atelier", method=builtin_methods()["slerp"].settings)
    reference = service.gallery("atelier").ids[7]
    first = service.run_turn(session.session_id, REQUESTS[0], reference_id=reference, k=20).turn
    server.kill()
    for _ in range(2):
        with pytest.raises(IndexUnavailable, match=f"Milvus server at {server.address} does not answer. Start it"):
            service.run_turn(session.session_id, REQUESTS[1], parent_id=first.turn_id, k=20)
    # What asks no server goes on: other galleries, the session's page, ranks over the whole gallery.
    assert service.searcher(NAME).index.search(np.eye(DIM)[0], 5)
    searcher = service.searcher("atelier")
    assert searcher.index.ranks_of_many(first.vector[None], [3]) > 0
    assert service.session(session.session_id).turns == (first,)
    server.start()
    again = service.run_turn(session.session_id, REQUESTS[1], parent_id=first.turn_id, k=20).turn
    assert service.session(session.session_id).turns == (first, again)
    alone = FlatIndex(searcher.gallery.features, searcher.gallery.ids).search(again.vector, 20, (reference,))
    assert listed(again.hits) == listed([hit for hit in alone if hit.image_id != again.reference_id][:20])
    stores.close()


def test_a_server_that_says_nothing_is_not_waited_for(caplog):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        server = MilvusServer(f"http://127.0.0.1:{silent.getsockname()[1]}", "lab:secret", seconds=0.3)
        with caplog.at_level(logging.DEBUG), ThreadPoolExecutor(4) as searchers:
            errors = list(searchers.map(lambda _: _error_of(server), range(8)))
    assert all("CIRQUE_MILVUS_TIMEOUT" in error or "does not answer" in error for error in errors), errors
    assert "secret" not in caplog.text + "".join(errors)


def _error_of(server: MilvusServer) -> str:
    with pytest.raises(IndexUnavailable) as raised:
        server.call(lambda client: client.list_collections(timeout=server.seconds))
    return str(raised.value)


# Uploads and the switch.


def test_an_upload_that_was_interrupted_is_continued(server, gallery, tmp_path, small_messages, monkeypatch):
    class Killed(BaseException): ...

    def until_half(done: int, total: int) -> None:
        if done >= total / 2:
            raise Killed

    with pytest.raises(Killed):
        build(tmp_path, server, progress=until_half)
    [begun] = on_server(server)
    # Killed between what the server got and the note of it: the rows of the last note arrive twice.
    noted = gallery.folder / "index-work" / "collection.json"
    content = json.loads(noted.read_text())
    assert content["sent"] == 300
    noted.write_text(json.dumps({**content, "sent": 200}))
    steps: list[int] = []
    build(tmp_path, server, progress=lambda done, total: steps.append(done))
    assert steps[0] == 200 and steps[-1] == 600
    assert on_server(server) == [begun] and led_to(server) == begun
    Collection(server_at(server.address), begun, 600, DIM).check()


@pytest.mark.extended
def test_a_server_that_ends_during_an_upload(server, gallery, tmp_path, small_messages):
    def ends(done: int, total: int) -> None:
        if done == 300:
            server.kill()

    with pytest.raises(IndexUnavailable, match="does not answer"):
        build(tmp_path, server, progress=ends)
    assert open_index(gallery)[1] == "" and not isinstance(open_index(gallery)[0], ApproximateIndex)
    server.start()
    build(tmp_path, server)
    query = gallery.features[1]
    assert listed(opened(gallery).search(query, 9)) == listed(FlatIndex(gallery.features, gallery.ids).search(query, 9))


def test_old_collections_go_when_nobody_searches_them(server, gallery, tmp_path):
    build(tmp_path, server)
    [old] = on_server(server)
    searching, query = opened(gallery), gallery.features[1]
    before = listed(searching.search(query, 10))
    changed = index_anew(tmp_path, vectors=True)
    index, problem = open_index(changed)
    assert not isinstance(index, ApproximateIndex) and "other vectors" in problem
    build(tmp_path, server)
    assert old in on_server(server) and len(on_server(server)) == 2 and led_to(server) != old
    assert listed(searching.search(query, 10)) == before
    assert listed(opened(changed).search(query, 10)) != before
    del searching
    build(tmp_path, server, "hnsw")    # the end of a build deletes them
    [new] = on_server(server)
    assert new != old and led_to(server) == new
    assert discard_index(NAME, home=tmp_path) == [] and on_server(server) == []


def test_galleries_do_not_meet(server, gallery, tmp_path):
    other = vector_gallery(tmp_path / "other", size=500, seed=1)    # of the same name, in another installation
    for home in (tmp_path, tmp_path / "other"):
        build(home, server)
    for one in (gallery, other):
        query = one.features[2]
        assert listed(opened(one).search(query, 5)) == listed(FlatIndex(one.features, one.ids).search(query, 5))
    discard_index(NAME, home=tmp_path / "other")
    assert opened(gallery).search(gallery.features[2], 5)


def test_a_collection_that_is_gone_is_built_again(server, gallery, tmp_path):
    build(tmp_path, server)
    [name] = on_server(server)
    server_at(server.address).call(lambda client: [client.drop_alias(f"cirque_{NAME}"), client.drop_collection(name)])
    with pytest.raises(IndexUnavailable, match=f"{name} .* does not exist\\. Build the gallery's index again: "):
        opened(gallery).search(gallery.features[1], 5)
    build(tmp_path, server)
    assert opened(gallery).search(gallery.features[1], 5) and on_server(server) != [name]


def test_a_collection_of_other_vectors_is_refused(server, gallery, tmp_path):
    build(tmp_path, server)
    [name] = on_server(server)
    there = Collection(server_at(server.address), name, 10, DIM // 2)
    there.drop()
    there.create("FLAT", {})
    there.upload(gallery.features[:10, :DIM // 2], None, lambda sent: None)
    with pytest.raises(IndexUnavailable, match=r"contains 10 vectors of 16 numbers instead of 600 of 32\. Build"):
        opened(gallery).search(gallery.features[1], 5)


# Addresses and credentials.


@pytest.mark.parametrize(("given", "address"), [
    ("http://localhost", "http://localhost:19530"), ("http://Milvus.Example.org:7000/", "http://milvus.example.org:7000"),
    ("https://cloud.example.org/lab", "https://cloud.example.org:443/lab"), ("http://[::1]:19530", "http://[::1]:19530"),
])
def test_addresses(given, address):
    assert address_of(given) == address


@pytest.mark.parametrize("given", ["", "milvus.db", "localhost:19530", "tcp://localhost", "http://", "http://a b",
                                   "http://localhost:x", "http://localhost/a-b", "http://localhost/a/b"])
def test_what_is_no_address_of_a_server(given):
    with pytest.raises(GalleryError, match=r"is not the address of a Milvus server\. It is http://HOST:19530"):
        maker_of("milvus").variant(given, 1000, DIM)


def test_credentials_in_an_address_are_refused_and_not_repeated(gallery, tmp_path):
    for kind in ("milvus:http://lab:secret@localhost:19530", "milvus:http://localhost?index=flat&token=lab:s@secret"):
        with pytest.raises(GalleryError, match="CIRQUE_MILVUS_TOKEN") as refused:
            build_index(NAME, home=tmp_path, kind=kind)
        assert "secret" not in str(refused.value)
    with pytest.raises(GalleryError, match="Write index=KIND"):
        build_index(NAME, home=tmp_path, kind="milvus:http://localhost?index=quick")


def test_without_the_extra(monkeypatch, gallery, tmp_path):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(GalleryError, match=r"pip install -e '\.\[milvus\]'"):
        build_index(NAME, home=tmp_path, kind="milvus:http://localhost")


class _Gate(grpc.GenericRpcHandler):
    """Refuses every call, as a server does whose credentials are others; keeps what it was sent."""

    def __init__(self) -> None:
        self.sent: set[str] = set()

    def service(self, call):
        self.sent |= {str(value) for name, value in call.invocation_metadata if name == "authorization"}

        def refuse(request, context):
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "auth check failure, lab:secret is unknown")

        return grpc.unary_unary_rpc_method_handler(refuse)


def test_credentials_come_from_the_settings_and_stay_there(gallery, tmp_path, monkeypatch, caplog, capfd):
    import base64

    gate = _Gate()
    guarded = grpc.server(ThreadPoolExecutor(2), handlers=[gate])
    address = f"http://127.0.0.1:{guarded.add_insecure_port('127.0.0.1:0')}"
    guarded.start()
    monkeypatch.setenv("CIRQUE_MILVUS_TOKEN", "lab:secret")   # the settings are read when they are needed first
    try:
        with caplog.at_level(logging.DEBUG), pytest.raises(IndexUnavailable, match="refused the cred") as refused:
            build_index(NAME, home=tmp_path, kind=f"milvus:{address}")
    finally:
        guarded.stop(None)
    assert gate.sent == {base64.b64encode(b"lab:secret").decode()}
    files = b"".join(path.read_bytes() for path in gallery.folder.rglob("*") if path.is_file())
    shown = caplog.text + "".join(capfd.readouterr()) + str(refused.value)
    for secret in ("lab:secret", base64.b64encode(b"lab:secret").decode()):
        assert secret not in shown and secret.encode() not in files
