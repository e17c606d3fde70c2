"""Text as LaTeX that prints it, with pdfLaTeX, XeLaTeX and LuaLaTeX, and how wide it is then.

Latin letters, with any accents, are written for the T1 encoding, symbols as mathematics. Letters of other scripts are
arguments of ``\\cirquescript``, which `assets/report/preamble.tex` defines: with XeLaTeX and LuaLaTeX it finds an
installed font of the script, with pdfLaTeX it takes CJK or T2A where they are installed, else it prints code points.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import groupby

# What OT1 fonts print as something else is escaped too, and "[", which is an optional argument at the start of a row.
_WRITTEN = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "[": "{[}", "]": "{]}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}",
    "–": "--", "—": "---", "‐": "-", "‑": "-", "“": "``", "”": "''", "‘": "`", "’": "'", "„": r"\quotedblbase{}",
    "‚": r"\quotesinglbase{}", "«": r"\guillemotleft{}", "»": r"\guillemotright{}", "‹": r"\guilsinglleft{}",
    "›": r"\guilsinglright{}", "…": r"\dots{}", "·": r"\textperiodcentered{}", "•": r"\textbullet{}",
    "°": r"\textdegree{}", "§": r"\S{}", "¶": r"\P{}", "©": r"\textcopyright{}", "®": r"\textregistered{}",
    "™": r"\texttrademark{}", "€": r"\texteuro{}", "£": r"\pounds{}", "¥": r"\textyen{}", "¡": r"\textexclamdown{}",
    "¿": r"\textquestiondown{}", "\N{NO-BREAK SPACE}": "~", "\N{NARROW NO-BREAK SPACE}": r"\,",
    "\N{THIN SPACE}": r"\,",
} | {sign: f"${name}$" for sign, name in {
    "−": "-", "≥": r"\ge", "≤": r"\le", "×": r"\times", "÷": r"\div", "±": r"\pm", "≈": r"\approx", "≠": r"\ne",
    "≡": r"\equiv", "∼": r"\sim", "→": r"\to", "←": r"\leftarrow", "↔": r"\leftrightarrow", "⇒": r"\Rightarrow",
    "↑": r"\uparrow", "↓": r"\downarrow", "≻": r"\succ", "≺": r"\prec", "∈": r"\in", "∉": r"\notin", "∪": r"\cup",
    "∩": r"\cap", "⊂": r"\subset", "⊆": r"\subseteq", "∅": r"\emptyset", "∞": r"\infty", "√": r"\surd",
    "∑": r"\sum", "∏": r"\prod", "∂": r"\partial", "∇": r"\nabla", "∧": r"\wedge", "∨": r"\vee", "¬": r"\neg",
    "′": "'", "″": "''", "⋅": r"\cdot", "∘": r"\circ", "★": r"\star", "☆": r"\star", "✓": r"\surd", "✗": r"\times",
    "µ": r"\mu", "¹": "^1", "²": "^2", "³": "^3", "½": r"\frac12", "¼": r"\frac14", "¾": r"\frac34",
}.items()}
_GREEK_NAMES = """alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma varsigma tau
    upsilon varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"""
_GREEK = dict(zip("αβγδεζηθικλμνξπρσςτυφχψωΓΔΘΛΞΠΣΦΨΩ", _GREEK_NAMES.split(), strict=True))
_ACCENTS = dict(zip("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0323\u0327\u0328\u0331",
                    ("`", "'", "^", "~", "=", "u", ".", '"', "r", "H", "v", "d", "c", "k", "b"), strict=True))
_NOT_T1 = frozenset("ĦħĸĿŀŉŦŧſ×÷")    # of Latin-1 and Latin Extended-A
_SCRIPTS = {"CJK": "cjk", "HIRAGANA": "cjk", "KATAKANA": "cjk", "IDEOGRAPHIC": "cjk", "FULLWIDTH": "cjk",
            "KATAKANA-HIRAGANA": "cjk", "HALFWIDTH": "cjk", "BOPOMOFO": "cjk"}
_KNOWN = """arabic armenian bengali cjk cyrillic devanagari ethiopic georgian greek gujarati gurmukhi hangul hebrew
    kannada khmer lao malayalam mongolian myanmar oriya sinhala syriac tamil telugu thaana thai tibetan"""
_BREAKABLE = re.compile(r"(\\_|[/@.:=+])(?=\w)")

EM = 8.5       # points, of Latin Modern Roman in \footnotesize
# Widths in points of ASCII there, as TeX has them; measured with \wd in a box.
_WIDTHS = {character: width for width, characters in {
    2.37: "!',.:;[]`il|", 2.6: "fj", 2.84: "- ", 3.07: "I", 3.23: '"', 3.31: "()t", 3.32: "r", 3.36: "s", 3.78: "cez",
    4.02: "?", 4.25: "$*/0123456789\\ago{}", 4.37: "J", 4.45: "^~", 4.49: "kqvxy", 4.73: "Sbdhnpu", 5.2: "Z", 5.31: "L",
    5.55: "F", 5.79: "EP", 6.02: "B", 6.14: "CTw", 6.26: "R", 6.37: "AHNUVXY_", 6.49: "D", 6.61: "K",
    6.62: "&+<=>@OQ", 6.67: "G", 7.09: "#%m", 7.79: "M", 8.73: "W",
}.items() for character in characters}


def one_line(text: str) -> str:
    """Composed, without line ends and control characters."""
    text = unicodedata.normalize("NFC", text)
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def latex_text(text: str, *, breakable: bool = False) -> str:
    """As LaTeX that prints it. ``breakable``: long names may break behind ``_``, ``/`` and the like."""
    parts = []
    for script, run in groupby(one_line(text), _script):
        letters = "".join(run)
        parts.append(_latin(letters) if not script else
                     rf"\cirquescript{{{script}}}{{{letters}}}{{{_code_points(letters)}}}")
    written = "".join(parts)
    return _BREAKABLE.sub(r"\1\\allowbreak{}", written) if breakable else written


def _latin(letters: str) -> str:
    """Two hyphens stay two, which would be a dash: those of options of commands."""
    return "".join(r"\mbox{-}" if here == behind == "-" else _letter(here)
                   for here, behind in zip(letters, f"{letters[1:]} ", strict=True))


def width(text: str) -> float:
    """In points, set in \\footnotesize; of letters that are not Latin a guess that is rather too wide."""
    return sum(map(_width, one_line(text)))


def longest_word(text: str) -> float:
    """The width in points of what cannot be broken, where :func:`latex_text` is ``breakable``."""
    return max((width(part) for word in one_line(text).split() for part in re.split(r"(?<=[_/@.:=+-])", word)),
               default=0.0)


@lru_cache(maxsize=4096)
def _script(character: str) -> str:
    """A script of letters that need another font, or "" """
    if character.isascii() or _letter(character):
        return ""
    word = unicodedata.name(character, "OTHER").split()[0]
    found = _SCRIPTS.get(word, word.lower())
    return found if found in _KNOWN.split() else "other"


@lru_cache(maxsize=4096)
def _letter(character: str) -> str:
    """One that pdfLaTeX can print, as LaTeX; else ""."""
    if written := _WRITTEN.get(character):
        return written
    if character.isascii():
        return character
    if character in _GREEK:
        return rf"$\{_GREEK[character]}$"
    if "\u00c0" <= character <= "\u017e" and character not in _NOT_T1:
        return character
    parts = unicodedata.normalize("NFD", character)
    base, accents = parts[0], parts[1:]
    if not accents or not base.isascii() or any(one not in _ACCENTS for one in accents):
        return ""
    for accent in accents:
        base = rf"\{_ACCENTS[accent]}{{{base}}}"
    return base


def _code_points(letters: str) -> str:
    return " ".join("" if one == " " else f"U+{ord(one):04X}" for one in letters)


def _width(character: str) -> float:
    if (known := _WIDTHS.get(character)) is not None:
        return known
    base = unicodedata.normalize("NFD", character)[0]
    if base in _WIDTHS:
        return _WIDTHS[base]
    return 0.0 if unicodedata.combining(character) else EM if _script(character) == "cjk" else 0.8 * EM
