"""Weights with code in them are not loaded, and no refusal repeats PyTorch's advice to load them all the same."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import transformers

from cir_core.encoders import load_encoder
from cir_core.encoders.specs import bundled_encoder_dir
from cir_core.errors import CirqueError, EncoderUnavailable
from cir_core.language.captioners.blip import BlipCaptioner
from tests.fakes.tiny_embedding import save_clip

ADVICE = ("weights_only", "weights-only", "weights only", "safe_globals", "unpickl", "set to false", "trusted source",
          "torch.load")
OPEN_CLIP = {"embed_dim": 24, "vision_cfg": {"image_size": 32, "layers": 1, "width": 32, "patch_size": 16,
                                             "head_width": 16},
             "text_cfg": {"context_length": 8, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 1}}
SMALL = {"hidden_size": 32, "intermediate_size": 37, "num_hidden_layers": 1, "num_attention_heads": 2}


class Payload:
    def __reduce__(self):
        return (print, ("code in a checkpoint ran",))


def pickled() -> bytes:
    out = io.BytesIO()
    torch.save({"state_dict": Payload(), "layers.0.weight": torch.ones(1)}, out)
    return out.getvalue()


def old_pickle() -> bytes:
    out = io.BytesIO()
    torch.save({"state_dict": Payload()}, out, _use_new_zipfile_serialization=False)
    return out.getvalue()


def legacy_tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name in ("storages", "tensors", "pickle"):
            archive.addfile(tarfile.TarInfo(name), io.BytesIO())
    return out.getvalue()


def script() -> bytes:
    out = io.BytesIO()
    torch.save({"a": torch.ones(1)}, out)
    content = out.getvalue()
    # An archive with constants is one of TorchScript.
    again = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as one, zipfile.ZipFile(again, "w") as other:
        for name in one.namelist():
            other.writestr(name, one.read(name))
        other.writestr("archive/constants.pkl", b"\x80\x02).")
    return again.getvalue()


def pic2word(folder: Path, weights: bytes) -> None:
    (folder / "w.pt").write_bytes(weights)
    load_encoder(f"pic2word:local-dir:{bundled_encoder_dir()}:{folder}/w.pt", device="cpu")


def open_clip(folder: Path, weights: bytes) -> None:
    (folder / "w.pt").write_bytes(weights)
    (folder / "tiny.json").write_text(json.dumps(OPEN_CLIP))
    load_encoder(f"open_clip:{folder}/tiny.json+{folder}/w.pt", device="cpu")


def embedding(folder: Path, weights: bytes) -> None:
    save_clip(folder)
    _instead(folder, weights)
    load_encoder(f"embedding:{folder}", device="cpu")


def transformer(folder: Path, weights: bytes) -> None:
    save_clip(folder)
    _instead(folder, weights)
    load_encoder(f"transformers:{folder}", device="cpu")


def sentence_transformer(folder: Path, weights: bytes) -> None:
    transformers.BertModel(transformers.BertConfig(**SMALL, vocab_size=40)).save_pretrained(folder)
    _instead(folder, weights)
    (folder / "modules.json").write_text(json.dumps(
        [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]))
    load_encoder(f"sentence-transformers:{folder}", device="cpu")


def captioner(folder: Path, weights: bytes) -> None:
    config = transformers.BlipConfig(text_config=SMALL | {"vocab_size": 40}, vision_config=SMALL | {
        "image_size": 32, "patch_size": 16})
    transformers.BlipForConditionalGeneration(config).save_pretrained(folder)
    _instead(folder, weights)
    BlipCaptioner(folder, "cpu")


def _instead(folder: Path, weights: bytes) -> None:
    for path in folder.glob("*.safetensors"):
        path.unlink()
    (folder / "pytorch_model.bin").write_bytes(weights)


LOADERS = (pic2word, open_clip, embedding, transformer, sentence_transformer, captioner)


@pytest.mark.parametrize("weights", [pickled, old_pickle, legacy_tar, script], ids=lambda one: one.__name__)
@pytest.mark.parametrize("load", LOADERS, ids=lambda one: one.__name__)
def test_code_in_weights_neither_runs_nor_is_recommended(
    load: Callable[[Path, bytes], None], weights: Callable[[], bytes], tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(CirqueError) as refused:
        load(tmp_path, weights())
    said = str(refused.value)
    assert not [advice for advice in ADVICE if advice in said.lower()], said
    if weights in (pickled, old_pickle):
        assert "contains Python objects beyond tensors" in said, said
        assert "Use safetensors, or re-save the state dict alone" in said
    assert "code in a checkpoint ran" not in capfd.readouterr().out


def test_other_reasons_are_still_told(tmp_path: Path) -> None:
    (tmp_path / "w.safetensors").write_bytes(b"short")
    with pytest.raises(EncoderUnavailable, match=r"cannot be read \(.*header.*\)\. Copy it again"):
        load_encoder(f"searle:local-dir:{bundled_encoder_dir()}:{tmp_path}/w.safetensors", device="cpu")
