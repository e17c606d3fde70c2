"""All screens of the app: path, title, permission, script, in the order of the menu.

Routing, access control, the sign-in's first page and the menu in the browser (through ``/me``) all read this table.
"""

from __future__ import annotations

from dataclasses import dataclass

from annotation.accounts.roles import Capability


@dataclass(frozen=True)
class Page:
    """``needs``: any one of these capabilities opens it. ``script``: the ES module under ``assets`` whose ``mount``
    draws the screen into an empty element, or, of the search screen, looks after the panels that Gradio draws."""

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
    Page("/people", "People", frozenset({"people"}), "js/admin/people.js"),
    Page("/log", "Log", frozenset({"people"}), "js/admin/log.js"),
)


def pages_for(may: frozenset[Capability]) -> list[dict[str, str]]:
    """The menu of a person with these capabilities, as JSON. Paths are relative to the app's root."""
    return [{"page": page.name, "title": page.title, "path": page.path[1:]} for page in SCREENS if page.needs & may]
