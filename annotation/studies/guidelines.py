"""A study's own guidelines, and the appendix of its questions: Markdown with pictures, as elements that are safe to
show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from annotation.records import LOCAL, Study
from annotation.studies.image_snapshots import FindPicture, Freezer, studies_folder
from annotation.studies.protocols import OwnFile
from annotation.studies.store import StudyStore
from cir_core.errors import StudyError
from cir_core.support.texts import can_be_stored, counted, quoted, shortened
from cir_core.support.toml_files import load_toml

MOST_TEXT = 50_000
MOST_PICTURES = 50
MOST_NESTED = 50      # elements inside one another
_SETTING = "own_guidelines"   # a survey has other "guidelines"
_APPENDIX = "questions_appendix"
_LINKS = ("http", "https", "mailto")
_LOWER = 2     # levels: the page has a heading, and the guidelines as a whole have one
_TAGS = frozenset({"p", "em", "strong", "s", "ul", "ol", "li", "blockquote", "hr", "br", "table", "thead", "tbody",
                   "tr", "th", "td"})
Node = str | dict[str, Any]
"""A text, or an element: its tag, its children, of a link "href", of a picture "src" and "alt"."""


@dataclass(frozen=True)
class Guidelines:
    """``find``: the pictures that the text names."""

    text: str
    find: FindPicture


@cache
def _markdown() -> MarkdownIt:
    found = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    found.validateLink = lambda url: True   # type: ignore[method-assign]   # addresses are looked at here
    return found


def pictures_of(text: str) -> list[str]:
    """Names of pictures in the text, each once. Raises ``StudyError``, as :func:`nodes_of` does."""
    return list(dict.fromkeys(unquote(str(one.attrs.get("src", ""))) for one in _all(_parsed(text))
                              if one.type == "image"))


def nodes_of(text: str, address: Callable[[str], str | None]) -> list[Node]:
    """The text as elements for a page, in plain JSON: without any HTML of its own, links to other than web and mail
    addresses, and pictures for which ``address`` has none. Raises ``StudyError`` for a text whose elements are nested
    too deeply."""
    return _nodes(SyntaxTreeNode(_parsed(text)).children, address)


def _nodes(found: Sequence[SyntaxTreeNode], address: Callable[[str], str | None]) -> list[Node]:
    return [each for one in found for each in _node(one, address)]


def _node(one: SyntaxTreeNode, address: Callable[[str], str | None]) -> list[Node]:
    match one.type:
        case "text" | "html_inline" | "html_block":
            return [one.content]
        case "inline":
            return _nodes(one.children, address)
        case "softbreak":
            return ["\n"]
        case "code_inline":
            return [{"tag": "code", "children": [one.content]}]
        case "fence" | "code_block":
            return [{"tag": "pre", "children": [{"tag": "code", "children": [one.content]}]}]
        case "image":
            source = address(unquote(str(one.attrs.get("src", ""))))
            return [one.content] if source is None else [{"tag": "img", "src": source, "alt": one.content}]
    children = _nodes(one.children, address)
    if one.type == "heading":
        return [{"tag": f"h{min(6, int(one.tag[1:]) + _LOWER)}", "children": children}]
    href = str(one.attrs.get("href", ""))
    if one.type == "link" and urlsplit(href).scheme.lower() in _LINKS:
        return [{"tag": "a", "href": href, "children": children}]
    return [{"tag": one.tag, "children": children}] if one.tag in _TAGS else children


def tokens_of(study: Study) -> frozenset[str]:
    """Of the pictures of a study's guidelines and its appendix."""
    return frozenset(token for setting in (_SETTING, _APPENDIX)
                     for token in _kept(study, setting).get("pictures", {}).values())


def text_of(study: Study) -> str:
    return str(_kept(study).get("text", ""))


def appendix_of(study: Study) -> str:
    return str(_kept(study, _APPENDIX).get("text", ""))


def study_nodes(study: Study, address: Callable[[str, str], str]) -> list[Node]:
    """:func:`nodes_of` a study's guidelines, then of its appendix; none without any. ``address`` of a study's id and a
    picture's token."""
    def nodes(setting: str) -> list[Node]:
        pictures = _kept(study, setting).get("pictures", {})
        return nodes_of(str(_kept(study, setting).get("text", "")), lambda name: (
            address(study.study_id, pictures[name]) if name in pictures else None))

    return [*nodes(_SETTING), *nodes(_APPENDIX)]


def with_text(study: Study, text: str) -> Study:
    """``study`` with another text that shows the same pictures, as a preview."""
    return replace(study, settings={**study.settings, _SETTING: {**_kept(study), "text": text}})


def with_guidelines(home: Path, study: Study, given: Guidelines, *, max_megapixels: float) -> Mapping[str, Any]:
    """The settings of ``study`` with these guidelines, whose pictures are copied into its folder. Pictures that it has
    already need not be found. Raises ``StudyError`` for a text that is too long, and pictures that are missing or
    cannot be read."""
    return _with(home, study, _SETTING, given, max_megapixels)


def with_appendix(home: Path, study: Study, questions: OwnFile | None, *, max_megapixels: float) -> Study:
    """A new study that asks ``questions``, with their appendix, as :func:`with_guidelines`."""
    if questions is None or not (text := load_toml(questions.text).get("appendix", "")):
        return study
    return replace(study, settings=_with(home, study, _APPENDIX, Guidelines(text, questions.find), max_megapixels))


def _with(home: Path, study: Study, setting: str, given: Guidelines, max_megapixels: float) -> dict[str, Any]:
    text, old = given.text.strip(), _kept(study, setting).get("pictures", {})
    rest = {name: value for name, value in study.settings.items() if name != setting}
    if len(text) > MOST_TEXT or not can_be_stored(text):
        raise _too_long()
    names = pictures_of(text)
    if len(names) > MOST_PICTURES:
        raise StudyError(f"The guidelines have {len(names)} pictures, and may have {MOST_PICTURES}. Leave some out.")
    new = [name for name in names if name not in old]
    refuse_addresses(new)
    folder = studies_folder(home) / study.study_id
    if new:
        folder.mkdir(parents=True, exist_ok=True)   # an imported study has none
    found = Freezer(folder).freeze(new, given.find, max_megapixels=max_megapixels)
    if found.refused:
        raise StudyError(f"{counted(len(found.refused), 'picture')} of the guidelines cannot be used: " + "; ".join(
            f"{shortened(name, 80)} {why}" for name, why in found.refused.items()) + ". Add or replace them.")
    if not text:
        return rest
    tokens = {name: found.images[name].token if name in found.images else old[name] for name in names}
    return {**rest, setting: {"text": text, "pictures": tokens}}


def refuse_addresses(names: Sequence[str]) -> None:
    """Raises ``StudyError`` for a picture that is on another site."""
    for name in names:
        if "://" in name or name.startswith("//"):
            raise StudyError(f"The guidelines show a picture from another site, {quoted(shortened(name, 80))}. Save "
                             "it, add it to the pictures, and refer to it by name.")


def set_guidelines(
    store: StudyStore, home: Path, study: Study, given: Guidelines, *, max_megapixels: float = 64.0, by: str = LOCAL,
) -> Study:
    """Store guidelines of a study; an empty text removes them. Raises ``StudyError``."""
    settings = with_guidelines(home, study, given, max_megapixels=max_megapixels)
    return store.change_settings(study.study_id, {_SETTING: settings.get(_SETTING)}, by=by)


def _parsed(text: str) -> list[Token]:
    if len(text) > MOST_TEXT:   # before the work is done
        raise _too_long()
    found = _markdown().parse(text)
    if max((one.level for one in _all(found)), default=0) > MOST_NESTED:
        raise StudyError(f"The guidelines have more than {MOST_NESTED} nested lists, quotations or emphases. Simplify "
                         "them.")
    return found


def _too_long() -> StudyError:
    return StudyError(f"The guidelines are longer than {MOST_TEXT:,} characters, or contain characters that are not "
                      "text. Shorten them.")


def _kept(study: Study, setting: str = _SETTING) -> Mapping[str, Any]:
    found = study.settings.get(setting)
    return found if isinstance(found, Mapping) else {}


def _all(tokens: Sequence[Token]) -> list[Token]:
    return [one for token in tokens for one in (token, *(token.children or ()))]
