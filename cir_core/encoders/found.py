"""Encoders on this machine: in the home folder's ``encoders`` and in the Hugging Face cache. No network is used."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cir_core.encoders.embedding.recipes import FAMILIES, SIDECAR
from cir_core.encoders.specs import CHECKPOINT_SUFFIXES

_OPEN_CLIP, _TRANSFORMERS, _SENTENCES = "open_clip_config.json", "config.json", "modules.json"
_DUAL = frozenset({"clip", "siglip", "blip"})   # that transformers: loads
_NO_CONFIG = "is not an encoder that cirque loads"


@dataclass(frozen=True)
class FoundEncoder:
    """``spec`` is the name to pass to ``--encoder``; "" if it cannot be used, and ``problem`` says why."""

    spec: str
    place: str
    problem: str = ""


def found_encoders(home: Path, cache: Path | None = None) -> list[FoundEncoder]:
    """Those that can be used first. ``cache``: the hub's cache (default: the one of the environment)."""
    found = [*_in_home(home / "encoders"), *_in_cache(cache)]
    return sorted(found, key=lambda one: (bool(one.problem), one.spec, one.place))


def _in_home(folder: Path) -> Iterator[FoundEncoder]:
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            yield _of_folder(path)
        elif path.suffix in CHECKPOINT_SUFFIXES:
            yield FoundEncoder("", str(path), "is a checkpoint without a config; name its architecture: "
                                              f"open_clip:MODEL+{path}")


def _of_folder(folder: Path) -> FoundEncoder:
    kind, problem = _kind(folder)
    if folder.name.endswith(".part"):
        problem = "is a download that has not finished"
    return FoundEncoder("" if problem else f"{kind}:{folder}", str(folder), problem)


def _kind(folder: Path) -> tuple[str, str]:
    """Prefix of the spec that loads ``folder``, and why it cannot be loaded."""
    try:
        if (folder / _OPEN_CLIP).is_file():
            kind = "local-dir"
        elif (folder / _SENTENCES).is_file():
            kind = "sentence-transformers"
        elif (folder / _TRANSFORMERS).is_file():
            content = json.loads((folder / _TRANSFORMERS).read_text("utf-8-sig"))
            model = content.get("model_type") if isinstance(content, dict) else None
            if (folder / SIDECAR).is_file() or (model in FAMILIES and model not in _DUAL):
                kind = "embedding"
            elif model in _DUAL:
                kind = "transformers"
            else:
                return "", f"{_NO_CONFIG}: a model of type {model}"
        else:
            return "", f"{_NO_CONFIG}: there is neither {_OPEN_CLIP} nor {_TRANSFORMERS}"
        return kind, _damage([path for path in folder.rglob("*") if path.suffix in CHECKPOINT_SUFFIXES])
    except (OSError, ValueError, RecursionError) as error:
        return "", f"cannot be read: {error}"


def _damage(weights: list[Path]) -> str:
    """Why the files of weights cannot be used; "" if they look whole. Only their ends are read."""
    from safetensors import SafetensorError, safe_open

    if not weights:
        return "has no weights"
    for path in weights:
        try:
            if path.suffix == ".safetensors":
                with safe_open(path, framework="numpy"):
                    pass
            elif not zipfile.is_zipfile(path) and path.stat().st_size < 1024:   # older files of torch are no archives
                return f"has an incomplete file of weights, {path.name}"
        except (SafetensorError, OSError):
            return f"has an incomplete file of weights, {path.name}"
    return ""


def _in_cache(cache: Path | None) -> Iterator[FoundEncoder]:
    from huggingface_hub import scan_cache_dir
    from huggingface_hub.errors import CacheNotFound

    try:
        repos = scan_cache_dir(cache).repos
    except (CacheNotFound, OSError, ValueError):
        return
    for repo in sorted(repos, key=lambda one: one.repo_id):
        if repo.repo_type != "model" or not repo.revisions:
            continue
        newest = max(repo.revisions, key=lambda one: ("main" in one.refs, one.last_modified))
        yield _of_repo(repo.repo_id, newest.snapshot_path, Path(repo.repo_path))


def _of_repo(repo_id: str, snapshot: Path, folder: Path) -> FoundEncoder:
    """Of a repository of open_clip's weights the name that open_clip has for them: the repository's is not known to
    people."""
    if spec := _tags().get(repo_id):
        kind, problem = "", _damage([path for path in snapshot.iterdir() if path.suffix in CHECKPOINT_SUFFIXES])
    else:
        kind, problem = _kind(snapshot)
        spec = f"{kind}:{snapshot}" if kind in ("embedding", "sentence-transformers") else (
            f"{'hf-hub' if kind == 'local-dir' else kind}:{repo_id}")
    if problem and any(folder.glob("blobs/*.incomplete")):
        problem = "is a download that has not finished"
    return FoundEncoder("" if problem else spec, f"Hugging Face cache, {repo_id}", problem)


def _tags() -> dict[str, str]:
    """Repository of the hub to MODEL/TAG, of open_clip's weights that are whole repositories."""
    from open_clip import list_pretrained
    from open_clip.pretrained import get_pretrained_cfg

    found: dict[str, str] = {}
    for model, tag in list_pretrained():
        repo, _, name = str((get_pretrained_cfg(model, tag) or {}).get("hf_hub") or "").rpartition("/")
        if repo and not name:
            found.setdefault(repo, f"{model}/{tag}")
    return found
