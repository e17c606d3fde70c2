"""Parts of speech by a token classifier of transformers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cir_core.encoders.files.offline import hub_access, load_failure
from cir_core.errors import EncoderUnavailable
from cir_core.support.texts import quoted

SUGGESTED = "vblagoje/bert-english-uncased-finetuned-pos"
HOW_TO_INSTALL = ("Parts of speech are not counted. Name a tagger, for example --tagger "
                  f"{SUGGESTED} (a download of 440 MB).")
_CATEGORIES = {"NOUN": "noun", "PROPN": "noun", "VERB": "verb", "ADJ": "adjective"}     # Universal Dependencies
_PENN = {"NN": "noun", "VB": "verb", "JJ": "adjective"}                                  # Penn Treebank, by beginning
_BATCH = 64


class TransformersTagger:
    """A tagger from a folder written by ``save_pretrained`` or from the hub, with labels of Universal Dependencies or
    the Penn Treebank. Raises ``EncoderUnavailable``."""

    def __init__(self, source: str, *, allow_downloads: bool = False) -> None:
        import transformers

        place = str(Path(source).expanduser()) if Path(source).expanduser().is_dir() else source
        with hub_access(allow_downloads):
            try:
                tokenizer: Any = transformers.AutoTokenizer.from_pretrained(place, trust_remote_code=False)
                model: Any = transformers.AutoModelForTokenClassification.from_pretrained(place)
            except Exception as error:  # OSError for missing files, ValueError, RuntimeError for shapes
                raise EncoderUnavailable(f"The tagger {quoted(source)} could not be loaded: {load_failure(error)}. "
                                         "Name a folder with a token classifier, or allow downloads "
                                         "(CIRQUE_ALLOW_DOWNLOADS).") from error
        self.name = source
        self._tokenizer, self._model = tokenizer, model.eval().requires_grad_(False)
        self._categories = {number: category_of(label) for number, label in model.config.id2label.items()}
        missing = {"noun", "verb", "adjective"} - set(self._categories.values())
        if missing:
            labels = ", ".join(list(model.config.id2label.values())[:5])
            raise EncoderUnavailable(f"The tagger {quoted(source)} has no label for {sorted(missing)[0]}s; its labels "
                                     f"are {labels}, … Name one trained on Universal Dependencies or the Penn "
                                     "Treebank.")

    def tags(self, texts: Sequence[Sequence[str]]) -> list[list[str]]:
        """The category of each word: that of its first token; "other" for words beyond the model's length."""
        found = []
        for start in range(0, len(texts), _BATCH):
            found += self._batch([list(words) for words in texts[start:start + _BATCH]])
        return found

    def _batch(self, texts: list[list[str]]) -> list[list[str]]:
        import torch

        tokens = self._tokenizer(texts, is_split_into_words=True, padding=True, truncation=True, return_tensors="pt")
        with torch.inference_mode():
            best = self._model(**{key: tokens[key] for key in ("input_ids", "attention_mask")}).logits.argmax(-1)
        found = []
        for row, words in enumerate(texts):
            tags = ["other"] * len(words)
            for place, word in reversed(list(enumerate(tokens.word_ids(row)))):
                if word is not None:
                    tags[word] = self._categories[int(best[row, place])]
            found.append(tags)
        return found


def category_of(label: str) -> str:
    """"noun", "verb", "adjective" or "other" of a tag such as "NOUN", "B-VERB", "NNS"."""
    tag = label.upper().removeprefix("B-").removeprefix("I-")
    return _CATEGORIES.get(tag) or _PENN.get(tag[:2], "other")
