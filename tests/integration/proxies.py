"""nginx in front of several processes: as the docs say, or with nothing sticky."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from getpass import getuser
from pathlib import Path

from benchmarks.servers import lasting_port
from tests.fakes.patience import PATIENCE
from tests.integration.processes import ROOT, nginx, wait_until_answers

_AROUND = """
user {user}; daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx-error.log warn;
events {{ worker_connections 256; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy-temp; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  {inside}
}}
"""
# As docs/deploy/nginx.conf, with nothing sticky: requests of one person take turns.
_IN_TURN = """
  upstream cirque {{ {servers} keepalive 16; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://cirque;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-Host $host;
      proxy_set_header X-Request-ID $request_id;
      proxy_next_upstream error http_503 non_idempotent;
      add_header X-Request-ID-Sent $request_id always;
      add_header X-Landed-On $upstream_addr always;
    }}
  }}
"""
HOST = "cirque.example.org"   # as documented
ACCESS_LOG = "access.log"     # in the folder that as_documented is given


@contextmanager
def in_turn(folder: Path, addresses: Sequence[str]) -> Iterator[str]:
    """The address of nginx, which gives each request to the next of ``addresses`` ("127.0.0.1:7860")."""
    port = lasting_port()
    servers = " ".join(f"server {address} max_fails=0;" for address in addresses)
    with _running(folder, _IN_TURN.format(servers=servers, port=port), f"http://127.0.0.1:{port}/healthz"):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def as_documented(folder: Path, first: str, second: str) -> Iterator[str]:
    """The address of nginx with the files of the docs, in which only ports and places are others. Whoever asks says
    that ``HOST`` is the host."""
    port, plain = lasting_port(), lasting_port()
    conf = _documented(folder, "nginx.conf", HOST, {
        "/etc/ssl/certs/cirque.pem": folder / "certificate", "/etc/ssl/private/cirque.key": folder / "key",
        "127.0.0.1:7860": first, "127.0.0.1:7861": second, "listen 80;": f"listen 127.0.0.1:{plain};",
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl", "/var/lib/cirque": folder / "home"})
    with _running(folder, conf, f"http://127.0.0.1:{plain}/"):
        yield f"https://127.0.0.1:{port}"


@contextmanager
def below_a_path(folder: Path, address: str, port: int, elsewhere: str = "") -> Iterator[None]:
    """nginx at this port of localhost with the file of the docs for a path, in front of ``address``. ``elsewhere``:
    more servers, which may use the certificate."""
    conf = _documented(folder, "nginx-path.conf", "localhost", {
        "/etc/ssl/certs/lab.pem": folder / "certificate", "/etc/ssl/private/lab.key": folder / "key",
        "127.0.0.1:7860": address, "listen 443 ssl": f"listen 127.0.0.1:{port} ssl", "lab.example.org;": "localhost;"})
    plain = lasting_port()
    answers = f"server {{ listen 127.0.0.1:{plain}; return 204; }}"
    with _running(folder, conf + answers + elsewhere, f"http://127.0.0.1:{plain}/"):
        yield


def _documented(folder: Path, name: str, host: str, here: Mapping[str, object]) -> str:
    """That file of the docs, with these places and a certificate for ``host``."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={host}",
                    "-keyout", str(folder / "key"), "-out", str(folder / "certificate")],
                   check=True, capture_output=True)
    proxy, conf = ((ROOT / "docs" / "deploy" / one).read_text("utf-8") for one in ("nginx-proxy.conf", name))
    (folder / "proxy").write_text(proxy + "add_header X-Landed-On $upstream_addr always;")
    for documented, place in {**here, "/etc/nginx/cirque-proxy.conf": folder / "proxy",
                              "/var/log/nginx/cirque.log": folder / ACCESS_LOG}.items():
        assert documented in conf, documented
        conf = conf.replace(documented, str(place))
    return conf


def sent_again() -> list[str]:
    """The paths whose POSTs the docs' nginx sends to the other process when the first one dies."""
    conf = (ROOT / "docs" / "deploy" / "nginx.conf").read_text("utf-8")
    found = re.search(r"location ~ \^/\(([a-z/|]+)\)\$ {\s+proxy_next_upstream .*\bnon_idempotent;", conf)
    return ["/" + path for path in found[1].split("|")] if found else []


@contextmanager
def _running(folder: Path, inside: str, asked: str) -> Iterator[None]:
    (folder / "nginx.conf").write_text(_AROUND.format(folder=folder, inside=inside, user=getuser()))
    with (folder / "nginx.log").open("w") as log:
        running = subprocess.Popen([nginx(), "-c", str(folder / "nginx.conf"), "-p", str(folder)],
                                   stdout=log, stderr=subprocess.STDOUT)
    try:
        wait_until_answers(asked, running)
        yield
    finally:
        running.terminate()
        running.wait(PATIENCE)
