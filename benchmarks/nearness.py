"""What learned relevance rewards in the first 50 images of CIReVL: what was asked, or nearness to the reference.

``python -m benchmarks.nearness HOME`` takes the requests of ``cirque evaluate requests`` and prints, as means over
them, how well the score and the relevance tell images that satisfy a request from others (AUC: 0.5 is chance), and how
the relevance correlates with nearness to the reference, and with the relevance to the same reference without words.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.own_settings import settings_of
from cir_core.encoders.specs import BUNDLED, load_encoder
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.methods.declared import builtin_methods
from cir_core.relevance.configured import configured_scorer
from cir_core.relevance.scorer import RelevanceScorer
from cir_core.sample.evaluate_requests import read_truth
from cir_core.sample.gallery import ensure_sample, sample_folder
from cir_core.sample.request_set import Pool, ReferenceRequest, make_request_set, unmentioned
from cir_core.search.searcher import Searcher

FIRST = 50
ROWS = ("AUC of the score", "AUC of the relevance", "correlation with the cosine to the reference",
        "correlation with the unmentioned attributes shared", "correlation with the relevance without words")
Numbers = npt.NDArray[np.float64]


def measured(one: ReferenceRequest, searcher: Searcher, scorer: RelevanceScorer, pool: Pool) -> list[float]:
    """The numbers of ``ROWS``; nan where they are not defined."""
    reference, text, wants = searcher.gallery_reference(one.reference_id), one.request.text, one.request.wants
    found = searcher.turn(reference, text, builtin_methods()["cirevl"].settings, k=FIRST)
    ids = [hit.image_id for hit in found.hits]
    rows = [searcher.gallery.row_of(image_id) for image_id in ids]
    pixels = searcher.gallery.load_for_encoder(one.reference_id)
    relevance, wordless = (np.asarray(scorer.scores_of(scorer.query(pixels, words), rows), np.float64)
                           for words in (text, ""))
    satisfying = pool.satisfying(wants)[pool.rows(ids)]
    shared = pool.shared(pool.truth[one.reference_id], unmentioned(wants))[pool.rows(ids)]
    return [_auc(np.array([hit.score for hit in found.hits]), satisfying), _auc(relevance, satisfying),
            _correlation(relevance, searcher.features_of(ids) @ reference.features), _correlation(relevance, shared),
            _correlation(relevance, wordless)]


def _auc(scores: Numbers, right: npt.NDArray[np.bool_]) -> float:
    """How often a right one has the higher score; ties count half."""
    if right.all() or not right.any():
        return float("nan")
    differences = scores[right][:, None] - scores[~right][None]
    return float((differences > 0).mean() + (differences == 0).mean() / 2)


def _correlation(one: Numbers, other: npt.ArrayLike) -> float:
    values = np.asarray(other, np.float64)
    return float(np.corrcoef(one, values)[0, 1]) if values.std() and one.std() else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.nearness", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", type=Path, help="folder whose sample gallery is used; drawn and indexed if necessary")
    parser.add_argument("--limit", type=int, default=50, help="requests")
    options = parser.parse_args()
    settings, encoder = settings_of(options.home), load_encoder(BUNDLED)
    gallery = ensure_sample(options.home, encoder)
    truth = read_truth(sample_folder(options.home))
    pool = Pool({image_id: truth[image_id] for image_id in gallery.ids})
    searcher, scorer = Searcher(gallery, encoder, BuiltinLanguageModel(encoder)), configured_scorer(gallery, settings)
    requests = make_request_set(pool.truth, seed=settings.seed, sessions=0).requests[:options.limit]
    values = np.array([measured(one, searcher, scorer, pool) for one in requests])
    print(f"{len(requests)} requests, gallery {gallery.digest}, relevance model {scorer.revision}, "
          f"seed {settings.seed}")
    for name, column in zip(ROWS, values.T, strict=True):
        print(f"  {name:52} {np.nanmean(column):.2f}")
    for kind in dict.fromkeys(one.request.kind for one in requests):
        of_kind = [place for place, one in enumerate(requests) if one.request.kind == kind]
        row = f"AUC of the relevance, {kind} ({len(of_kind)})"
        print(f"  {row:52} {np.nanmean(values[of_kind, 1]):.2f}", flush=True)


if __name__ == "__main__":
    main()
