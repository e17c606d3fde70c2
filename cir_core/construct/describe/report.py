"""Statistics of a set of sessions as JSON and as a page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from cir_core.construct.describe.sets import SizeRow, SubsetSessions, size_rows
from cir_core.construct.describe.words import HOW_TO_INSTALL, Tagger, Term, Wording, wordings
from cir_core.reports.figures import OKABE_ITO, bars
from cir_core.reports.page import html_page
from cir_core.reports.records import Figure, ReportTable, Section, count, number, share, text
from cir_core.support.texts import counted

_TERMS = 20
_WIDTH, _HEIGHT = 330, 280      # of a word cloud, in pixels: a narrow screen; on a wider one words move apart
_LARGEST, _SMALLEST = 34, 11    # pixels of letters
_LETTER, _LINE = 0.62, 1.25     # width and height of a letter, in its size
_CLOUD = 45                     # terms
_STEPS = 4000                   # of a spiral, before a word is left out
_Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Description:
    sizes: tuple[SizeRow, ...]
    wordings: tuple[Wording, ...]
    notes: tuple[str, ...] = ()

    @property
    def longest(self) -> int:
        return max((turns for row in self.sizes for turns in row.by_turns), default=0)

    def as_json(self) -> dict[str, Any]:
        """``parts`` is null where no tagger was given."""
        return {"sizes": [asdict(row) | {"mean_turns": row.mean_turns} for row in self.sizes],
                "wordings": [asdict(one) for one in self.wordings], "notes": list(self.notes)}


def describe_sessions(
    subsets: Sequence[SubsetSessions], notes: Sequence[str] = (), tagger: Tagger | None = None
) -> Description:
    return Description(tuple(size_rows(subsets)), tuple(wordings(subsets, tagger)), tuple(notes))


def size_table(found: Description) -> ReportTable:
    """Tables 1 and 4 of the paper."""
    turns = range(1, found.longest + 1)
    columns = (text("subset", "subset"), text("category", "category"), count("sessions", "sessions"),
               count("images", "images named"), count("gallery", "gallery"), number("mean_turns", "turns, mean"),
               *(count(f"turns_{n}", counted(n, "turn")) for n in turns))
    rows = tuple((row.name, row.category, row.sessions, row.images, row.gallery, row.mean_turns,
                  *(row.by_turns.get(n, 0) for n in turns)) for row in found.sizes)
    return ReportTable("sizes", "Sessions by number of turns", columns, rows,
                       "Gallery: images that are ranked; files of the public format do not say.", "No sessions.")


def wording_table(found: Description) -> ReportTable:
    """Table 2 of the paper."""
    tagger = next((one.parts.tagger for one in found.wordings if one.parts), "")
    columns = (text("name", "texts"), count("texts", "number"), number("mean_words", "words, mean"),
               count("types", "different words"), number("ttr", "type-token ratio"), share("noun", "nouns"),
               share("verb", "verbs"), share("adjective", "adjectives"))
    rows = tuple((one.name, one.texts, one.mean_words, one.types, one.type_token_ratio,
                  *((one.parts.noun, one.parts.verb, one.parts.adjective) if one.parts else (None, None, None)))
                 for one in found.wordings)
    return ReportTable("wording", "Language of the texts", columns, rows,
                       "The type-token ratio falls with the number of words: compare sets of similar size. "
                       f"{f'Parts of speech by {tagger}.' if tagger else HOW_TO_INSTALL}")


def terms_table(found: Description) -> ReportTable:
    """The most frequent terms of the original captions and of the generated texts, side by side."""
    groups = found.wordings[:2]
    columns = tuple(column for n, one in enumerate(groups) for column in (
        text(f"term_{n}", one.name), count(f"count_{n}", "count"), share(f"share_{n}", "of texts")))
    deepest = max((min(_TERMS, len(one.terms)) for one in groups), default=0)
    rows = tuple(tuple(cell for one in groups for cell in (
        (one.terms[n].term, one.terms[n].count, one.terms[n].share) if n < len(one.terms) else ("", None, None)))
        for n in range(deepest))
    return ReportTable("terms", "Most frequent terms", columns, rows, "Without English stop words.", "No words.")


def page(found: Description, subject: str) -> str:
    """Everything as one HTML page that needs no network."""
    total = found.sizes[-1] if found.sizes else None
    facts = f"{counted(total.sessions, 'session')}, {counted(total.turns, 'turn')}" if total else "No sessions"
    return html_page(subject, "Statistics of multi-turn sessions", facts, page_sections(found))


def page_sections(found: Description) -> list[Section]:
    return [
        Section("sessions", "Sessions", " ".join(("Sessions by their number of turns.", *found.notes)), (),
                (_turn_figure(found),), (size_table(found),)),
        Section("language", "Language", "The captions of the data set (turn 1) beside the texts of later turns.", (),
                (_length_figure(found),), (wording_table(found),)),
        Section("terms", "Terms", "The words that are used most.", (), tuple(
            word_cloud(f"cloud-{number}", f"Words of the {one.name}", one.terms)
            for number, one in enumerate(found.wordings[:2])), (terms_table(found),)),
    ]


def _turn_figure(found: Description) -> Figure:
    total = found.sizes[-1].by_turns if found.sizes else {}
    labels = [str(n) for n in range(1, found.longest + 1)]
    counts = [total.get(n, 0) for n in range(1, found.longest + 1)]
    said = ", ".join(f"{label}: {n:,}" for label, n in zip(labels, counts, strict=True))
    alt = f"Sessions by number of turns: {said}"
    return bars("turns", "Sessions by number of turns", alt, labels, counts, axis="sessions", across="turns")


def _length_figure(found: Description) -> Figure:
    groups = [one for one in found.wordings[:2] if one.texts]
    grid = {"gridcolor": "rgba(128,128,128,0.25)", "automargin": True}
    means = "; ".join(f"{one.name}: {one.mean_words:.1f} words on average" for one in groups)
    return Figure("lengths", "Words of a text", f"Distribution of the number of words. {means}.", {
        "data": [{
            "type": "bar", "name": one.name, "x": list(one.lengths),
            "y": [count / one.texts for count in one.lengths.values()], "opacity": 0.7,
            "marker": {"color": OKABE_ITO[number]},
            "hovertemplate": "%{x} words: %{y:.1%}<extra>" + one.name + "</extra>",
        } for number, one in enumerate(groups)],
        "layout": {"height": 320, "barmode": "overlay", "margin": {"l": 8, "r": 8, "t": 34, "b": 8},
                   "xaxis": {"title": {"text": "words"}, **grid}, "yaxis": {"tickformat": ".0%", **grid,
                                                                           "title": {"text": "texts"}},
                   "showlegend": True,
                   "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.0, "yanchor": "bottom"}},
    })


def word_cloud(key: str, title: str, terms: Sequence[Term]) -> Figure:
    """The most frequent of ``terms``; those for which there is no room are left out."""
    placed = places([(term.term, size) for term, size in zip(terms[:_CLOUD], _sizes(terms[:_CLOUD]), strict=True)])
    counts = {term.term: term for term in terms}
    words = [word for word, *_ in placed]
    hidden = {"visible": False, "fixedrange": True}
    first = ", ".join(words[:10])
    return Figure(key, title, f"Word cloud. The most frequent words are {first}." if words else "No words.", {
        "data": [{
            "type": "scatter", "mode": "text", "x": [x for _, x, _, _ in placed], "y": [y for _, _, y, _ in placed],
            "text": words, "textfont": {"size": [size for *_, size in placed]}, "cliponaxis": False,
            "hovertext": [f"{word}: {counts[word].count:,} times" for word in words],
            "hovertemplate": "%{hovertext}<extra></extra>", "showlegend": False,
        }],
        "layout": {"height": _HEIGHT, "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
                   "xaxis": hidden | {"range": [-_WIDTH / 2, _WIDTH / 2]},
                   "yaxis": hidden | {"range": [-_HEIGHT / 2, _HEIGHT / 2]}},
    })


def places(words: Sequence[tuple[str, float]]) -> list[tuple[str, float, float, float]]:
    """Word, centre and size of each word, in their order: the first place on a spiral from the middle that is free."""
    boxes: list[_Box] = []
    found = []
    for word, size in words:
        half_width, half_height = len(word) * size * _LETTER / 2, size * _LINE / 2
        for step in range(_STEPS):
            angle, radius = 0.35 * step, 0.45 * math.sqrt(step) * 4
            x, y = radius * math.cos(angle), radius * math.sin(angle)
            box = (x - half_width, y - half_height, x + half_width, y + half_height)
            inside = abs(x) + half_width <= _WIDTH / 2 and abs(y) + half_height <= _HEIGHT / 2
            if inside and not any(_overlap(box, other) for other in boxes):
                boxes.append(box)
                found.append((word, round(x, 1), round(y, 1), size))
                break
    return found


def _sizes(terms: Sequence[Term]) -> list[float]:
    """By the square root of the count, as areas are compared."""
    most = max((term.count for term in terms), default=1)
    return [round(max(_SMALLEST, _LARGEST * math.sqrt(term.count / most)), 1) for term in terms]


def _overlap(one: _Box, other: _Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
