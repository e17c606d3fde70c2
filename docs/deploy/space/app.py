"""Entry of a Hugging Face Space: cirque as a public demo of its sample gallery, at 0.0.0.0:7860.

Variables of the Space (Settings, Variables) count more than what is set here; docs/reference/settings.md lists them.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

_STORAGE = (Path("/data"), Path.home())   # what the Space keeps, if it has that; what its image holds
# Peers of a Space's container are Hugging Face's own proxies: no visitor reaches it without them.
_PROXIES = "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16"


def storage() -> Path:
    """A folder for the gallery and, for a day, for what visitors leave."""
    found = next((folder for folder in _STORAGE if folder.is_dir() and os.access(folder, os.W_OK)), None)
    return found / "cirque-demo" if found else Path(tempfile.mkdtemp(prefix="cirque-"))


def defaults() -> dict[str, str]:
    chosen = {
        "CIRQUE_PUBLIC_DEMO": "true", "CIRQUE_HOST": "0.0.0.0", "CIRQUE_PORT": "7860",
        "CIRQUE_FRAME_ANCESTORS": "https://huggingface.co", "CIRQUE_LOG_LEVEL": "info",
    }
    if "SPACE_HOST" in os.environ:
        chosen["CIRQUE_TRUSTED_PROXIES"] = _PROXIES
    if not os.environ.get("CIRQUE_HOME"):
        chosen["CIRQUE_HOME"] = str(storage())
    return chosen


def main() -> None:
    os.environ.update({name: value for name, value in defaults().items() if not os.environ.get(name)})
    if sys.argv[1:] == ["prepare"]:   # while the image is built, so that a start takes seconds
        from cli.admin.serving import prepare_sample

        prepare_sample()
        return
    from cli.main import run

    # The sample gallery, which is drawn if it is not there, or one of your own.
    sys.argv = ["cirque", "demo" if os.environ.get("CIRQUE_GALLERY", "atelier") == "atelier" else "serve"]
    run()


if __name__ == "__main__":   # drawing starts processes, which import this file
    main()
