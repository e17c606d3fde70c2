"""Weights of a tiny model of open_clip, fetched from a small server by the real code."""

from __future__ import annotations

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import open_clip
import pytest
import torch
from open_clip import pretrained
from safetensors.torch import save

from cir_core.encoders import load_encoder
from cir_core.encoders.weights import CONFIG, WEIGHTS, fetch_weights, weights_of
from cir_core.errors import EncoderUnavailable, Stopped

MODEL, SPEC = "tiny-for-weights", "tiny-for-weights/test"
TINY = {
    "embed_dim": 16, "vision_cfg": {"image_size": 32, "layers": 1, "width": 32, "patch_size": 16, "head_width": 16},
    "text_cfg": {"context_length": 16, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 1},
}


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """The file of weights. The model stays known to open_clip."""
    path = tmp_path_factory.mktemp("config") / f"{MODEL}.json"
    path.write_text(json.dumps(TINY), "utf-8")
    open_clip.add_model_config(path)
    pretrained._PRETRAINED[MODEL] = {"test": {
        "hf_hub": "somebody/tiny/", "quick_gelu": True, "mean": (0.5, 0.5, 0.5), "std": (0.5, 0.5, 0.5),
        "interpolation": "bicubic", "resize_mode": "shortest",
    }}
    torch.manual_seed(1)
    return save(open_clip.create_model(MODEL, force_quick_gelu=True).state_dict())


class Hub:
    """Serves ``content`` as the hub does; ``status``, ``sent`` bytes and ``etag`` may be wrong. ``asked``: paths."""

    def __init__(self, content: bytes) -> None:
        self.content, self.status, self.sent = content, 200, len(content)
        self.etag, self.asked = hashlib.sha256(content).hexdigest(), []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                hub.asked.append(self.path)
                self.send_response(hub.status)
                self.send_header("Content-Length", str(len(hub.content)))
                self.send_header("X-Linked-Etag", f'"{hub.etag}"')
                self.end_headers()
                self.wfile.write(hub.content[:hub.sent])

            def log_message(self, *arguments: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def hub(content):
    hub = Hub(content)
    yield hub
    hub.close()


@pytest.fixture
def weights(hub, tmp_path):
    return weights_of(SPEC, tmp_path, endpoint=hub.address)


def left(tmp_path):
    return [path for path in (tmp_path / "encoders").rglob("*") if path.is_file() or path.name.endswith(".part")]


def never() -> bool:
    return False


def test_size_and_source_are_known_before_anything_is_asked(hub, weights):
    assert weights.url == f"{hub.address}/somebody/tiny/resolve/main/{WEIGHTS}" and hub.asked == []
    assert weights.megabytes == round(len(hub.content) / 1e6) == 3 and not weights.ready
    real = weights_of("ViT-B-32/openai", weights.folder)
    assert real.megabytes == 605 and real.host == "huggingface.co" and real.config["model_cfg"]["quick_gelu"]


def test_what_is_fetched_loads_and_encodes_as_the_model_does(hub, weights):
    came = []
    spec = fetch_weights(weights, lambda done, total: came.append((done, total)), never)
    assert came[-1] == (len(hub.content), len(hub.content)) and len(hub.asked) == 1 and weights.ready
    encoder = load_encoder(spec, device="cpu")
    torch.manual_seed(1)
    model = open_clip.create_model(MODEL, force_quick_gelu=True).eval()
    with torch.inference_mode():
        wanted = model.encode_text(open_clip.get_tokenizer(MODEL)(["a red dress"]), normalize=True)[0]
    assert encoder.encode_texts(["a red dress"])[0] == pytest.approx(wanted.numpy(), abs=1e-5)


@pytest.mark.parametrize(("change", "said"), [
    ({"status": 404}, "it answered 404"), ({"sent": 1000}, "could not be downloaded"),
    ({"etag": "0" * 64}, "or another file"), ({"content": b"no weights at all"}, "could not be loaded"),
])
def test_a_failure_says_why_and_leaves_nothing(hub, weights, tmp_path, change, said):
    for name, value in change.items():
        setattr(hub, name, value)
    if "content" in change:
        hub.etag = ""
    with pytest.raises(EncoderUnavailable, match=said):
        fetch_weights(weights, lambda done, total: None, never)
    assert left(tmp_path) == []


def test_without_internet_it_says_what_to_do(weights, hub, tmp_path):
    hub.close()
    with pytest.raises(EncoderUnavailable, match=r"127\.0\.0\.1.*Nothing was kept.*by hand"):
        fetch_weights(weights, lambda done, total: None, never)
    assert left(tmp_path) == []
    hub.__init__(hub.content)  # for the fixture to close


def test_a_stop_leaves_nothing(weights, tmp_path):
    came: list[int] = []
    with pytest.raises(Stopped, match="Nothing was kept"):
        fetch_weights(weights, lambda done, total: came.append(done), lambda: bool(came))
    assert len(came) == 1 and left(tmp_path) == []


def test_a_file_that_was_put_there_by_hand_is_used_without_a_download(hub, weights):
    weights.folder.mkdir(parents=True)
    weights.file.write_bytes(hub.content)
    assert load_encoder(fetch_weights(weights, lambda done, total: None, never), device="cpu").dim == 16
    assert hub.asked == []


def test_another_file_in_its_place_is_refused_and_kept(hub, weights):
    weights.folder.mkdir(parents=True)
    weights.file.write_bytes(b"something else")
    with pytest.raises(EncoderUnavailable, match="left as it is"):
        fetch_weights(weights, lambda done, total: None, never)
    assert weights.file.read_bytes() == b"something else" and not (weights.folder / CONFIG).exists()


@pytest.mark.parametrize("spec", ["atelier", "local-dir:/x", "ViT-B-32/nothing", "ViT-B-16-SigLIP/webli"])
def test_other_encoders_are_left_to_the_command(spec, tmp_path):
    with pytest.raises(EncoderUnavailable, match=r"cirque encoders fetch"):
        weights_of(spec, tmp_path)
