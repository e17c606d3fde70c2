"""Download an encoder's published weights to the home folder, or take over a file that was put there by hand.

A download goes to a folder of its own, is loaded once as a check, and is renamed when all of that succeeded: a failure
or a stop leaves nothing behind.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2

from cir_core.encoders.specs import EncoderSpec, load_encoder, parse_spec
from cir_core.errors import CirqueError, EncoderUnavailable, Stopped

CONFIG, WEIGHTS = "open_clip_config.json", "open_clip_model.safetensors"
Progress = Callable[[int, int], None]   # bytes so far, and in all (0 if the server does not say)

_PLAIN = {"embed_dim", "vision_cfg", "text_cfg", "quick_gelu"}   # of a model that open_clip builds as its class CLIP
_PIECE = 1 << 20
_PATIENCE = httpx2.Timeout(30, connect=10)
_SHA256 = re.compile(r'"?([0-9a-f]{64})"?')


@dataclass(frozen=True)
class Weights:
    """Weights that can be downloaded."""

    spec: str                # such as ViT-B-32/openai
    url: str
    megabytes: int           # about
    folder: Path             # where they are kept
    config: dict[str, Any]   # of the folder, in open_clip's form
    repo: str = ""           # of the hub

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc

    @property
    def licence(self) -> str:
        """Its name, where that is known, and the hub's page, which has the text."""
        known = "MIT, as OpenAI's CLIP; " if self.spec.endswith("/openai") else ""
        return f"{known}see https://huggingface.co/{self.repo}"

    @property
    def file(self) -> Path:
        return self.folder / WEIGHTS

    @property
    def encoder(self) -> str:
        """The spec of the encoder once the weights are there."""
        return f"local-dir:{self.folder}"

    @property
    def ready(self) -> bool:
        return self.file.is_file() and (self.folder / CONFIG).is_file()


def weights_of(spec: str, home: Path, *, endpoint: str | None = None) -> Weights:
    """Where the weights of ``spec`` (``MODEL/TAG`` of open_clip) are and go. Nothing is asked over the network.
    ``endpoint``: another address of the hub. Raises ``EncoderUnavailable`` for other encoders."""
    import open_clip
    import torch
    from huggingface_hub import hf_hub_url

    parsed = parse_spec(spec)
    tag = open_clip.get_pretrained_cfg(parsed.source, parsed.tag) if parsed.kind == "pretrained" else {}
    model = open_clip.get_model_config(parsed.source) if tag else None
    repo, _, name = str(tag.get("hf_hub") or "").rpartition("/")
    text = (model or {}).get("text_cfg", {})
    plain = model is not None and set(model) <= _PLAIN and not {"hf_tokenizer_name", "hf_model_name"} & set(text)
    if not repo or model is None or not plain:
        raise EncoderUnavailable(f"The weights of '{spec}' cannot be fetched from within the app. Fetch them with: "
                                 f"cirque encoders fetch {spec}")
    with torch.device("meta"):  # shapes without numbers
        count = sum(one.numel() for one in open_clip.CLIP(**model).parameters())
    if tag.get("quick_gelu"):
        model = {**model, "quick_gelu": True}
    kept = ("mean", "std", "interpolation", "resize_mode")
    config = {"model_cfg": model, "preprocess_cfg": {key: tag[key] for key in kept if tag.get(key)}}
    url = hf_hub_url(repo, name if name.endswith(".safetensors") else WEIGHTS, endpoint=endpoint)
    return Weights(spec, url, round(count * 4 / 1e6), _folder(home, parsed), config, repo)


def fetch_weights(weights: Weights, progress: Progress, stopped: Callable[[], bool]) -> str:
    """Download ``weights`` and return the encoder's spec; a file that is in its place already is checked and used.

    Raises ``Stopped``, ``EncoderUnavailable``.
    """
    if weights.file.is_file():
        return _check_existing(weights)
    part = weights.folder.with_name(f".{weights.folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        part.mkdir(parents=True)
        _download(weights.url, part / WEIGHTS, progress, stopped)
        _write_config(weights, part)
        load_encoder(f"local-dir:{part}", device="cpu")
        if stopped():
            raise Stopped("The download was stopped. Nothing was kept.")
        shutil.rmtree(weights.folder, ignore_errors=True)
        part.rename(weights.folder)
    except (httpx2.HTTPError, OSError) as error:
        raise EncoderUnavailable(
            f"The weights could not be downloaded from {weights.host}: {_describe_error(error)}. Nothing was kept. "
            "Check the connection and the space on the disk, or put the file in its place by hand."
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return weights.encoder


def _check_existing(weights: Weights) -> str:
    try:
        _write_config(weights, weights.folder)
        load_encoder(weights.encoder, device="cpu")
    except OSError as error:
        raise EncoderUnavailable(f"{weights.folder} cannot be written to: {_describe_error(error)}.") from error
    except CirqueError as error:
        (weights.folder / CONFIG).unlink(missing_ok=True)
        raise EncoderUnavailable(f"The file {weights.file} does not load as {weights.spec}; it was left as it is. Copy "
                                 f"it again from {weights.url}, or remove it. ({error})") from error
    return weights.encoder


def _download(url: str, path: Path, progress: Progress, stopped: Callable[[], bool]) -> None:
    from huggingface_hub.utils._headers import build_hf_headers

    digest, done = hashlib.sha256(), 0
    with httpx2.stream("GET", url, headers=build_hf_headers(), follow_redirects=True, timeout=_PATIENCE) as answer:
        answer.raise_for_status()
        total = int(answer.headers.get("content-length") or 0)
        with path.open("wb") as file:
            for piece in answer.iter_raw(_PIECE):
                if stopped():
                    raise Stopped("The download was stopped. Nothing was kept.")
                file.write(piece)
                digest.update(piece)
                done += len(piece)
                progress(done, total)
    # The hub says what the file has to be in the answer before it redirects to where the file is.
    expected = next((found[1] for one in (*answer.history, answer)
                 if (found := _SHA256.fullmatch(one.headers.get("x-linked-etag", "")))), "")
    if (total and done != total) or (expected and expected != digest.hexdigest()):
        raise EncoderUnavailable(f"The file from {urlsplit(url).netloc} is not complete ({done:,} of {total:,} "
                                 "bytes), or another file. Nothing was kept. Try again.")


def _write_config(weights: Weights, folder: Path) -> None:
    (folder / CONFIG).write_text(json.dumps(weights.config, indent=1), "utf-8")


def _describe_error(error: Exception) -> str:
    if isinstance(error, httpx2.HTTPStatusError):
        return f"it answered {error.response.status_code}"
    return str(getattr(error, "strerror", None) or error or type(error).__name__)


def fetched(spec: str, home: Path) -> str | None:
    """The spec of ``MODEL/TAG`` in the home folder, where :func:`fetch_weights` puts it; None if it is not there."""
    parsed = parse_spec(spec)
    if parsed.kind != "pretrained":
        return None
    folder = _folder(home, parsed)
    return f"local-dir:{folder}" if all((folder / name).is_file() for name in (CONFIG, WEIGHTS)) else None


def _folder(home: Path, parsed: EncoderSpec) -> Path:
    return home / "encoders" / f"{parsed.source}-{parsed.tag}"
