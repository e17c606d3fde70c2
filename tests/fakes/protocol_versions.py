"""A second version of rubric and survey beside those that cirque has, as the next release may bring them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from annotation.kinds.preference.survey import texts
from annotation.kinds.validity import rubric

NEW_FLAG = "TEXT_NAMES_THE_TARGET"
"""In circus/2 instead of ``QUERY_TOO_BROAD``, and the most severe one."""
ASSETS = Path(__file__).parents[2] / "assets"


def raise_versions(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on there are circus/2 and hs-fashioniq/2 too, in copies of the folders below ``folder``."""
    for module, name, changes in (
        (rubric, "rubrics", {"circus": {
            'protocol = "circus/1"': 'protocol = "circus/2"', "QUERY_TOO_BROAD": NEW_FLAG,
            "severity = 1": "severity = 9", "severity = 4": "severity = 1",
            "unsure_after = 120": "unsure_after = 60"}}),
        (texts, "surveys", {"hs-fashioniq": {
            'protocol = "hs-fashioniq/1"': 'protocol = "hs-fashioniq/2"',
            '"Matches very well"': '"Matches perfectly"'}}),
    ):
        copied = shutil.copytree(ASSETS / name, folder / name)
        for of, replaced in changes.items():
            text = (copied / f"{of}-1.toml").read_text("utf-8")
            for old, new in replaced.items():
                assert old in text, old
                text = text.replace(old, new)
            (copied / f"{of}-2.toml").write_text(text, "utf-8")
        monkeypatch.setattr(module, "_FOLDER", copied)
