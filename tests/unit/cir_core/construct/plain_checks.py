"""The filters of CIRCLED once more, written plainly over the raw file: a second opinion on every count."""

from __future__ import annotations

import json
from pathlib import Path

STAGES = ("success", "multi-turn", "text", "rank margin", "redundancy", "repeated image")


def recount(raw: Path, encoder, epsilon: int = 30, tau: float = 0.8):
    """How many sessions each stage removes, and the query ids that are left."""
    content = json.loads(raw.read_text("utf-8"))
    left = content["results"]
    removed = {}
    for stage in STAGES:
        stays = [session for session in left if passes(stage, session, content, encoder, epsilon, tau)]
        removed[stage] = len(left) - len(stays)
        left = stays
    return removed, [session["query_id"] for session in left]


def passes(stage, session, content, encoder, epsilon, tau):
    turns = session["turns"]
    if stage == "success":
        return session["success"]
    if stage == "multi-turn":
        return len(turns) > 1
    if stage == "text":
        return session["original_query"] != ""
    if stage == "rank margin":
        missing = content["data_completeness"]["images"] + 1
        ranks = [turn["best_gt_rank"] if turn["best_gt_rank"] > 0 else missing for turn in turns]
        return all(ranks[i + 1] - ranks[i] <= epsilon for i in range(len(ranks) - 1))
    texts = [session["original_query"]] + [turn["relative_caption"] for turn in turns[1:]]
    if stage == "redundancy":
        for i in range(len(texts)):
            for j in range(i):
                a, b = encoder.encode_texts([texts[i]])[0], encoder.encode_texts([texts[j]])[0]
                if round(float(a.astype("float64") @ b.astype("float64")), 6) >= tau:
                    return False
        return True
    images = [session["reference_image_id"]] + [turn["selected_image"] for turn in turns[1:]]
    return len(images) == len(set(images))
