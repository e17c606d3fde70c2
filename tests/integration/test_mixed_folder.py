"""A folder such as people have ends as a gallery and a list of what was left out, and why."""

import json

import numpy as np
import pytest

from cir_core.gallery.gallery import open_gallery
from cir_core.gallery.indexing import index_folder
from cir_core.index.flat import FlatIndex
from tests.fakes.encoder import FakeEncoder
from tests.fakes.mixed_folder import NAMES, make_mixed_folder


def check(report, mixed, gallery):
    assert {image.path for image in gallery.images} == mixed.good
    reasons = dict(report.skipped)
    assert reasons.keys() == mixed.bad.keys()
    assert [path for path, part in mixed.bad.items() if part not in reasons[path]] == []
    assert report.n + len(report.skipped) == len(mixed.good) + len(mixed.bad)


@pytest.mark.parametrize("n", [110, pytest.param(200, marks=pytest.mark.extended)])
def test_everything_readable_is_found_and_everything_else_explained(tmp_path, n):
    """Of each kind there is one in both; the larger has more plain ones."""
    mixed = make_mixed_folder(tmp_path / "photos", n=n)
    assert len(mixed.good) + len(mixed.bad) >= n
    report = index_folder(mixed.root, name="mixed", encoder=FakeEncoder(), home=tmp_path / "home")
    gallery = open_gallery("mixed", home=tmp_path / "home")
    check(report, mixed, gallery)
    for name in NAMES:
        assert f"names/{name}" in gallery and f"{name}/inside" in gallery
    assert "kinds/twin.jpg" in gallery and "kinds/twin.png" in gallery
    for image_id in gallery.ids:
        assert gallery.thumbnail_of(image_id).stat().st_size > 0
        assert gallery.load_image(image_id).mode == "RGB"


@pytest.mark.extended
@pytest.mark.filterwarnings("default")
def test_with_a_real_architecture(tmp_path):
    """ViT-B-32 with random weights: everything but the training."""
    open_clip = pytest.importorskip("open_clip")
    safetensors = pytest.importorskip("safetensors.torch")
    torch = pytest.importorskip("torch")
    from cir_core.encoders import load_encoder

    torch.manual_seed(1)
    folder = tmp_path / "vit"
    folder.mkdir()
    model = open_clip.create_model("ViT-B-32", pretrained=None)
    state = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
    safetensors.save_file(state, folder / "open_clip_model.safetensors")
    config = {"model_cfg": open_clip.get_model_config("ViT-B-32"), "preprocess_cfg": {}}
    (folder / "open_clip_config.json").write_text(json.dumps(config))
    encoder = load_encoder(f"local-dir:{folder}", device="cpu")

    mixed = make_mixed_folder(tmp_path / "photos", n=110)
    report = index_folder(mixed.root, name="mixed", encoder=encoder, home=tmp_path / "home")
    gallery = open_gallery("mixed", home=tmp_path / "home")
    check(report, mixed, gallery)
    assert gallery.features.shape == (len(mixed.good), 512)
    assert np.allclose(np.linalg.norm(gallery.features, axis=1), 1, atol=1e-5)
    gallery.check_encoder(encoder)
    query = encoder.encode_images([gallery.load_image("names/платье")])[0]
    # Rounding differs with the batch; the image still finds itself with a cosine of 1.
    best = FlatIndex(gallery.features, gallery.ids).search(query, 1)[0]
    assert best.image_id == "names/платье" and best.score == pytest.approx(1, abs=1e-5)
