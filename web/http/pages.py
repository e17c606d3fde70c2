"""Table of all screens: path, title, permission, script, in menu order.

Routing, access control, the first page after sign-in and the browser's menu (through ``/me``) all read it.
"""

from __future__ import annotations

from dataclasses import dataclass

from annotation.accounts.roles import Capability


@dataclass(frozen=True)
class Page:
    """``needs``: any of these capabilities grants access. ``script``: the ES module under ``assets`` whose ``mount``
    draws the screen into an empty element or, on the search screen, enhances Gradio's panels."""

    path: str
    title: str
    needs: frozenset[Capability]
    script: str

    @property
    def name(self) -> str:
        return self.path.strip("/") or "search"


SEARCH = Page("/", "Search", frozenset({"search"}), "js/search/main.js")
SCREENS = (
    SEARCH,
    Page("/annotate", "Annotate", frozenset({"annotate"}), "js/annotate/main.js"),
    Page("/adjudicate", "Adjudicate", frozenset({"adjudicate"}), "js/adjudicate/main.js"),
    Page("/studies", "Studies", frozenset({"manage", "results"}), "js/studies/main.js"),
    Page("/analysis", "Analysis", frozenset({"results"}), "js/analysis/main.js"),
    Page("/benchmarks", "Benchmarks", frozenset({"manage", "results"}), "js/benchmarks/main.js"),
    Page("/people", "People", frozenset({"people"}), "js/admin/people.js"),
    Page("/log", "Log", frozenset({"people"}), "js/admin/log.js"),
)


def pages_for(may: frozenset[Capability]) -> list[dict[str, str]]:
    """Menu for these capabilities, as JSON. Paths are relative to the app's root."""
    return [{"page": page.name, "title": page.title, "path": page.path[1:]} for page in SCREENS if page.needs & may]
