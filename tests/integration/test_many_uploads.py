"""Many large pictures sent to the real server at one time."""

from __future__ import annotations

import io
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psutil
import pytest
from PIL import Image

from tests.fakes.patience import PATIENCE, wait_for
from tests.integration.processes import App

pytestmark = pytest.mark.extended
UPLOADS, EDGE, BUDGET = 8, 4472, 100   # 20 megapixels each: 80 MB as RGB, 160 MB while RGBA becomes RGB


def a_picture(mode: str, colour: int) -> bytes:
    content = io.BytesIO()
    Image.new(mode, (EDGE, EDGE), (colour, 9, 9, 128)[:len(mode)]).save(content, "PNG")
    return content.getvalue()


def test_many_large_uploads_at_one_time_stay_within_the_budget(tmp_path: Path) -> None:
    """Without a budget 8 of them take 640 MB as RGB and 1,280 MB as RGBA. With one of 100 MB an RGBA picture is decoded
    alone, in 160 MB and what scaling, bodies and threads take: half of the lesser is far from both. Then it is given
    back."""
    app = App(tmp_path / "home", tmp_path / "app.log", DECODE_MEMORY_MB=str(BUDGET))
    try:
        url, memory = app.url, psutil.Process(app.process.pid).memory_info

        def upload(content: bytes) -> int:
            return httpx.post(f"{url}/media/upload", content=content, timeout=PATIENCE).status_code

        assert upload(a_picture("RGB", 255)) == 200
        seen = [memory().rss]
        wait_for(lambda: seen.append(memory().rss) or abs(seen[-1] - seen[-2]) < 2**20, pause=1.0)
        before, most, over = seen[-1], 0, threading.Event()

        def watch() -> None:
            nonlocal most
            while not over.wait(0.02):
                most = max(most, memory().rss)

        watching = threading.Thread(target=watch)
        watching.start()
        for mode in ("RGB", "RGBA"):
            with ThreadPoolExecutor(UPLOADS) as threads:
                sent = threads.map(upload, [a_picture(mode, number) for number in range(UPLOADS)])
                assert list(sent) == [200] * UPLOADS
        over.set()
        watching.join()
        print(f"at most {(most - before) / 2**20:.0f} MB")
        assert most - before < UPLOADS * 4 * EDGE**2 // 2, f"{(most - before) / 2**20:.0f} MB"
        wait_for(lambda: memory().rss - before < 50 * 2**20, told=lambda: f"{(memory().rss - before) / 2**20:.0f} MB")
    finally:
        app.end()
