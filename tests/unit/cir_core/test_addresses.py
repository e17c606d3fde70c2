"""Paths, hosts and origins as people write them into settings, and proxies into headers."""

from __future__ import annotations

import pytest

from cir_core.errors import SettingsError
from cir_core.settings import Settings, get_settings
from cir_core.support.addresses import allowed_hosts, frame_ancestors, host_of, is_one_of, public_url, root_path


@pytest.mark.parametrize(("text", "path"), [
    ("", ""), ("/", ""), ("/cirque", "/cirque"), ("/tools/cirque/", "/tools/cirque"), ("/...", "/..."),
    ("/~ada/c-1_2.x", "/~ada/c-1_2.x"),
])
def test_paths(text: str, path: str) -> None:
    assert root_path(text) == path


@pytest.mark.parametrize("text", ["cirque", "//a", "/a//b", "/a//", "/a/../b", "/.", "/a\n", "/a b", "/é", "/%2e%2e",
                                  "/a?b", "/a;b", "/a:b@c", '/a"', "/a\\b", "/" + 200 * "a"])
def test_what_is_no_path(text: str) -> None:
    with pytest.raises(ValueError, match="path"):
        root_path(text)


@pytest.mark.parametrize(("text", "url"), [
    ("https://Lab.Example.org", "https://lab.example.org"), ("https://lab.example.org/", "https://lab.example.org"),
    (" http://127.0.0.1:7912/tools/cirque/ ", "http://127.0.0.1:7912/tools/cirque"), ("http://[::1]:80", "http://[::1]:80"),
])
def test_public_addresses(text: str, url: str) -> None:
    assert public_url(text) == url


@pytest.mark.parametrize("text", ["lab.example.org", "ftp://lab.example.org", "https://", "https://a b", "https://a/?x=1",
                                  "https://a/#b", "https://ada:secret@a", "https://a:port", "https://*.example.org",
                                  "https://a/../b", "https://a:99999", "https://a;b"])
def test_what_is_no_public_address(text: str) -> None:
    with pytest.raises(ValueError, match=r"address|path"):
        public_url(text)


@pytest.mark.parametrize(("text", "sources"), [
    ("", ()), ("https://huggingface.co", ("https://huggingface.co",)),
    ("https://a.org, https://*.hf.space/ ,http://127.0.0.1:7912", ("https://a.org", "https://*.hf.space",
                                                                  "http://127.0.0.1:7912")),
    ("self,'self',https://A.org:8443,https://a.org:8443", ("'self'", "https://a.org:8443")),
])
def test_sites_that_may_frame(text: str, sources: tuple[str, ...]) -> None:
    assert frame_ancestors(text) == sources
    assert frame_ancestors(",".join(sources)) == sources


@pytest.mark.parametrize("text", ["*", "https://*", "https://*.org", "https:", "a.org", "https://a.org/page", "'none'",
                                  "https://a.org; script-src *", "https://a.org https://b.org", "https://a.org\r\nX: y",
                                  "data:", "https://a.*.org", "https://ada@a.org"])
def test_what_may_not_frame(text: str) -> None:
    with pytest.raises(ValueError, match="origin"):
        frame_ancestors(text)


@pytest.mark.parametrize(("header", "allowed", "found"), [
    ("lab.example.org", "lab.example.org", True), ("LAB.example.org.:8443", "lab.example.org", True),
    ("a.example.org", "*.example.org", True), ("a.b.example.org", "*.example.org", True),
    ("example.org", "*.example.org", False), ("evilexample.org", "*.example.org", False),
    ("lab.example.org.evil.net", "lab.example.org", False), ("evil.net", "lab.example.org", False),
    ("evil.net@lab.example.org", "lab.example.org", False), ("lab.example.org/x", "lab.example.org", False),
    ("[::1]:7860", "[::1]", True), ("[::1", "::1", False), ("", "lab.example.org", False),
])
def test_names_in_the_host_header(header: str, allowed: str, found: bool) -> None:
    assert is_one_of(host_of(header), allowed_hosts(allowed)) is found


@pytest.mark.parametrize("text", ["https://a.org", "a.org:80", "*", "*.", "a.org/x", "a b", "a..b", "-*.org"])
def test_what_is_no_name_of_a_host(text: str) -> None:
    with pytest.raises(ValueError, match="host"):
        allowed_hosts(text)


def test_the_public_address_gives_the_path_and_the_name() -> None:
    settings = Settings.model_validate({"public_url": "https://lab.example.org:8443/tools/cirque/"})
    assert (settings.root_path, settings.hosts) == ("/tools/cirque", ("lab.example.org",))
    several = settings.model_copy(update={"allowed_hosts": "lab.example.org,lab"})
    assert several.hosts == ("lab.example.org", "lab")
    assert Settings().hosts == () and Settings().root_path == ""


@pytest.mark.parametrize("name", ["PUBLIC_URL", "ALLOWED_HOSTS", "FRAME_ANCESTORS"])
def test_a_mistake_is_named_at_the_start(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(f"CIRQUE_{name}", "https://a.org/x?y")
    get_settings.cache_clear()
    with pytest.raises(SettingsError, match=rf"^CIRQUE_{name}: .*See docs/reference/settings\.md\.$"):
        get_settings()
    get_settings.cache_clear()
