"""nginx as documented, while no cirque answers: what it writes about invitations."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from benchmarks.servers import lasting_port
from tests.fakes.patience import PATIENCE, wait_for
from tests.integration.processes import ROOT, nginx, wait_until_answers

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nginx")

# What a distribution puts around it: both logs are on.
AROUND = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log {folder}/access.log;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxied; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  {documented}
}}
"""


def logs_in(folder: Path) -> str:
    return "\n".join(path.read_text() for path in folder.glob("*.log"))


def test_no_invitation_is_in_nginx_s_logs(tmp_path: Path) -> None:
    plain, secure = lasting_port(), lasting_port()
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=cirque.example.org",
                    "-keyout", str(tmp_path / "key"), "-out", str(tmp_path / "certificate")], check=True,
                   capture_output=True)
    conf, shared = ((ROOT / "docs" / name).read_text("utf-8") for name in ("nginx.conf", "nginx-proxy.conf"))
    (tmp_path / "shared").write_text(shared)
    for documented, here in (
        ("/etc/nginx/cirque-proxy.conf", tmp_path / "shared"), ("/etc/ssl/certs/cirque.pem", tmp_path / "certificate"),
        ("/etc/ssl/private/cirque.key", tmp_path / "key"), ("listen 80;", f"listen 127.0.0.1:{plain};"),
        ("listen 443 ssl", f"listen 127.0.0.1:{secure} ssl"),
    ):
        assert documented in conf, documented
        conf = conf.replace(documented, str(here))
    conf = re.sub(r"server 127\.0\.0\.1:786\d", lambda _: f"server 127.0.0.1:{lasting_port()}", conf)  # nobody there
    conf = conf.replace("/var/log/nginx", str(tmp_path))
    (tmp_path / "nginx.conf").write_text(AROUND.format(folder=tmp_path, documented=conf))
    running = subprocess.Popen([nginx(), "-c", str(tmp_path / "nginx.conf"), "-p", str(tmp_path)])
    try:
        wait_until_answers(f"http://127.0.0.1:{plain}/", running)
        with httpx.Client(verify=False, headers={"Host": "cirque.example.org"}, timeout=PATIENCE) as client:
            moved = client.get(f"http://127.0.0.1:{plain}/join/marker-secret")
            assert moved.status_code == 301
            assert moved.headers["location"] == "https://cirque.example.org/join/marker-secret"
            for _ in range(3):   # by each of them, and once nginx knows that both are away
                assert client.get(f"https://127.0.0.1:{secure}/join/marker-secret").status_code == 502
            client.post(f"https://127.0.0.1:{secure}/join/marker-secret", data={"name": "Ada"})
            client.get(f"http://127.0.0.1:{plain}/other-plain")
            client.get(f"https://127.0.0.1:{secure}/other-secure")
        wait_for(lambda: all(one in logs_in(tmp_path) for one in ("other-plain", "other-secure")))
    finally:
        running.terminate()
        running.wait(PATIENCE)
    logs = logs_in(tmp_path)
    assert "other-plain" in logs and logs.count("other-secure") >= 2   # both logs are kept, of everything else
    assert "marker-secret" not in logs
