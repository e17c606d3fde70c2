"""Small annotation files in the benchmarks' released formats."""

import json
from pathlib import Path

BOM = b"\xef\xbb\xbf"


def put(path: Path, content) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), "utf-8")
    return path


def as_windows_saves(path: Path) -> Path:
    """The same JSON after an editor that writes a byte-order mark and CR LF."""
    text = json.dumps(json.loads(path.read_text("utf-8")), indent=1)
    path.write_bytes(BOM + text.replace("\n", "\r\n").encode())
    return path


CIRR_NAMES = [f"dev-{n}-0-img0" for n in range(60)]


def cirr_record(pairid, reference, target=None, caption="add a dog", **changes):
    """A query whose image set is the first six names."""
    targets = {} if target is None else {"target_hard": CIRR_NAMES[target], "target_soft": {CIRR_NAMES[target]: 1.0}}
    return {"pairid": pairid, "reference": CIRR_NAMES[reference], **targets, "caption": caption,
            "img_set": {"id": 1, "members": CIRR_NAMES[:6], "reference_rank": 0}, **changes}


def cirr(root: Path, records=None, *, split="val", names=CIRR_NAMES) -> Path:
    records = [cirr_record(12, 0, 3), cirr_record(15, 4, 1, "make it snow")] if records is None else records
    put(root / "captions" / f"cap.rc2.{split}.json", records)
    put(root / "image_splits" / f"split.rc2.{split}.json", {name: f"./dev/{name}.png" for name in names})
    return root


def circo_record(number, **changes):
    return {"reference_img_id": 11, "target_img_id": 22, "relative_caption": "is outdoors",
            "shared_concept": "a red bench", "gt_img_ids": [22, 33], "id": number,
            "semantic_aspects": ["viewpoint"], **changes}


def circo(root: Path, records=None, *, split="val") -> Path:
    records = [circo_record(0), circo_record(1)] if records is None else records
    return put(root / "annotations" / f"{split}.json", records)


def coco_images(root: Path, ids=range(1, 71)) -> Path:
    images = [{"license": 1, "file_name": f"{one:012}.jpg", "height": 480, "id": one} for one in ids]
    return put(root / "COCO2017_unlabeled" / "annotations" / "image_info_unlabeled2017.json",
               {"info": {"year": 2017}, "licenses": [{"id": 1}], "images": images})


def fashioniq_record(target, candidate, *captions):
    return {**({} if target is None else {"target": target}), "candidate": candidate, "captions": list(captions)}


def fashioniq(root: Path, category="dress", records=None, names=("B01", "B02", "B03", "B04"), split="val") -> Path:
    records = [fashioniq_record("B02", "B01", "is red", "has long sleeves")] if records is None else records
    put(root / "captions" / f"cap.{category}.{split}.json", records)
    put(root / "image_splits" / f"split.{category}.{split}.json", list(names))
    return root


def genecis_image(number):
    return {"val_image_id": number}


def genecis_box(number):
    return {"image_id": number, "instance_id": f"i{number}", "instance_bbox": [10, 20, 30.5, 40]}


def genecis(root: Path) -> Path:
    """Two queries for each task: reference 7, target 8 (of the second 9), a gallery of three others."""
    for task, of in (("focus_attribute", genecis_box), ("change_attribute", genecis_box),
                     ("focus_object", genecis_image), ("change_object", genecis_image)):
        text = "the colour" if task == "focus_attribute" else "with a dog"
        put(root / "genecis" / f"{task}.json", [
            {"reference": of(7), "target": of(target), "condition": text,
             "gallery": [of(number) for number in (8, 9, 10, 11) if number != target]} for target in (8, 9)])
    return root
