"""The built-in language model: captions and merged descriptions by rules, without a network."""

from cir_core.language.builtin.captions import Caption, merge, parse_caption
from cir_core.language.builtin.model import BuiltinLanguageModel
from cir_core.language.builtin.reading.edits import Edit, Edits, apply_edits, apply_with_notes
from cir_core.language.builtin.reading.parse import parse_edits

__all__ = [
    "BuiltinLanguageModel", "Caption", "Edit", "Edits", "apply_edits", "apply_with_notes", "merge",
    "parse_caption", "parse_edits",
]
