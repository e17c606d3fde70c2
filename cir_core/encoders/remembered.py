"""The encoder that galleries are indexed with if none is named: the one chosen last, kept in the home folder."""

from __future__ import annotations

import json
import logging
from pathlib import Path

from cir_core.encoders.specs import BUNDLED, COMPOSING, UNIVERSAL, EncoderSpec, looks_like_path, parse_spec
from cir_core.errors import CirqueError, EncoderUnavailable, SettingsError
from cir_core.support.files import write_durably
from cir_core.support.texts import quoted

_log = logging.getLogger("cirque.encoders")


def kept_in(home: Path) -> Path:
    return home / "encoders.json"


def usual_encoder(home: Path) -> str:
    """Its spec; ``atelier`` if none was chosen. A damaged file counts as none: the next choice replaces it."""
    try:
        spec = json.loads(kept_in(home).read_bytes())["default"]
        return parse_spec(spec).text if isinstance(spec, str) else BUNDLED
    except FileNotFoundError:
        return BUNDLED
    except (OSError, ValueError, KeyError, TypeError, RecursionError, CirqueError):
        _log.warning("%s cannot be read, and is ignored: choose again with 'cirque encoders default NAME'",
                     kept_in(home))
        return BUNDLED


def remember(home: Path, spec: str) -> bool:
    """Keep ``spec``, with absolute paths; returns whether it is another than before. Raises ``EncoderUnavailable`` for
    what is none, ``SettingsError``."""
    parsed = parse_spec(spec)
    spec = _from_anywhere(parsed)
    for path in (parsed.source if parsed.kind in ("folder", *UNIVERSAL) else "", parsed.weights):
        if path and not Path(path).expanduser().exists():
            raise EncoderUnavailable(f"Encoder {quoted(spec)}: {path} is not there. Check the path.")
    if usual_encoder(home) == spec:
        return False
    try:
        home.mkdir(parents=True, exist_ok=True)
        write_durably(kept_in(home), (json.dumps({"default": spec}, indent=1) + "\n").encode())
    except OSError as error:
        raise SettingsError(f"{kept_in(home)} cannot be written: {error.strerror or error}. Free some space or make "
                            "the folder writable.") from error
    return True


def _from_anywhere(spec: EncoderSpec) -> str:
    """The name of an encoder, whatever folder a command runs in."""
    def absolute(path: str) -> str:
        return str(Path(path).expanduser().absolute())

    prefix = spec.text.partition(":")[0]
    if spec.kind in COMPOSING:
        return f"{prefix}:{_from_anywhere(spec.backbone)}:{absolute(spec.weights)}"
    if spec.kind == "pair":
        config = absolute(spec.source) if spec.source.endswith(".json") else spec.source
        return f"{prefix}:{config}+{absolute(spec.weights)}"
    if spec.kind in ("folder", *UNIVERSAL) or (spec.kind == "transformers" and looks_like_path(spec.source)):
        return f"{prefix}:{absolute(spec.source)}"
    return spec.text
