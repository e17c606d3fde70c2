"""The database schema. ``migrations/`` builds it step by step; a test checks that both agree."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from storage.engine.schema import UtcDateTime as UtcDateTime
from storage.engine.schema import metadata as metadata
from storage.mapping.study_tables import assignments as assignments
from storage.mapping.study_tables import audit_log as audit_log
from storage.mapping.study_tables import decisions as decisions
from storage.mapping.study_tables import drafts as drafts
from storage.mapping.study_tables import failed_logins as failed_logins
from storage.mapping.study_tables import invitations as invitations
from storage.mapping.study_tables import judgements as judgements
from storage.mapping.study_tables import people as people
from storage.mapping.study_tables import sign_ins as sign_ins
from storage.mapping.study_tables import studies as studies
from storage.mapping.study_tables import study_events as study_events
from storage.mapping.study_tables import study_images as study_images
from storage.mapping.study_tables import study_items as study_items
from storage.mapping.study_tables import study_scores as study_scores
from storage.mapping.study_tables import study_seats as study_seats

sessions = Table(
    "sessions", metadata,
    Column("session_id", String(64), primary_key=True),
    Column("gallery", Text, nullable=False),
    Column("method", JSON, nullable=False),
    Column("protocol", JSON, nullable=False),
    Column("protocol_digest", String(64), nullable=False),
    Column("target_id", Text),
    Column("target_live", Boolean, nullable=False),
    Column("target_revealed", Boolean, nullable=False),
    Column("title", Text, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),  # last turn or reveal; renaming does not count
    Index(None, "updated_at"),
    Index(None, "gallery", "updated_at"),
)

branches = Table(
    "branches", metadata,
    Column("branch_id", String(64), primary_key=True),
    Column("session_id", ForeignKey("sessions.session_id", ondelete="CASCADE"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("name", Text, nullable=False),
    UniqueConstraint("session_id", "number"),
)

turns = Table(
    "turns", metadata,
    Column("turn_id", String(64), primary_key=True),
    Column("session_id", ForeignKey("sessions.session_id", ondelete="CASCADE"), nullable=False),
    Column("branch_id", ForeignKey("branches.branch_id", ondelete="CASCADE"), nullable=False),
    Column("parent_id", ForeignKey("turns.turn_id", ondelete="CASCADE"), index=True),
    Column("number", Integer, nullable=False),  # depth in the tree
    Column("seq", Integer, nullable=False),     # order in the session, from 1
    Column("reference_id", Text, nullable=False),
    Column("modification_text", Text, nullable=False),
    Column("caption", Text, nullable=False),
    Column("merged_text", Text, nullable=False),
    Column("notes", JSON, nullable=False),
    Column("vector", LargeBinary, nullable=False),  # float32, little-endian
    Column("hits", JSON, nullable=False),           # in columns, see rows.pack_hits
    Column("hit_numbers", LargeBinary, nullable=False),
    Column("excluded_ids", JSON, nullable=False),
    Column("target_rank", Integer),
    Column("timings_ms", JSON, nullable=False),
    Column("protocol_digest", String(64), nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("composition", JSON(none_as_null=True)),  # see compositions.py; turns of 0.1 have none
    Column("composition_vectors", LargeBinary),
    UniqueConstraint("session_id", "seq"),
    UniqueConstraint("branch_id", "number"),  # a branch is a line: one turn at each depth
)

uploads = Table(
    "uploads", metadata,
    Column("upload_id", Text, primary_key=True),
    Column("width", Integer, nullable=False),
    Column("height", Integer, nullable=False),
    Column("original_name", Text, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
)

answers = Table(
    "answers", metadata,
    Column("key", String(64), primary_key=True),  # hash of everything that the answer depends on
    Column("model", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("prompt_version", Text, nullable=False),
    Column("answer", Text, nullable=False),
    Column("prompt_tokens", Integer, nullable=False),
    Column("completion_tokens", Integer, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
)

comparisons = Table(
    "comparisons", metadata,
    Column("comparison_id", String(64), primary_key=True),
    Column("gallery", Text, nullable=False),
    Column("reference_id", Text, nullable=False),
    Column("modification_text", Text, nullable=False),
    # Origin, for the record: no foreign key, so that the comparison survives the
    # deletion of its session.
    Column("session_id", String(64)),
    Column("parent_id", String(64)),
    Column("blind", Boolean, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
)

comparison_columns = Table(
    "comparison_columns", metadata,
    Column("comparison_id", ForeignKey("comparisons.comparison_id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),  # from 0, as shown
    Column("method", Text, nullable=False),
    Column("protocol", JSON, nullable=False),
    Column("protocol_digest", String(64), nullable=False),
    Column("caption", Text, nullable=False),
    Column("merged_text", Text, nullable=False),
    Column("notes", JSON, nullable=False),
    Column("hits", JSON, nullable=False),  # this and the next column as in turns
    Column("hit_numbers", LargeBinary, nullable=False),
    Column("timings_ms", JSON, nullable=False),
    Column("composition", JSON(none_as_null=True)),
    Column("composition_vectors", LargeBinary),
    Column("problem", Text, nullable=False),
)

method_votes = Table(
    "method_votes", metadata,
    Column("vote_id", String(64), primary_key=True),
    # No cascade: votes are never deleted implicitly with their comparison.
    Column("comparison_id", ForeignKey("comparisons.comparison_id"), nullable=False),
    Column("annotator", Text, nullable=False),
    Column("shown", JSON, nullable=False),
    Column("chosen", Text),
    Column("blind", Boolean, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    UniqueConstraint("comparison_id", "annotator"),
)

audit_runs = Table(
    "audit_runs", metadata,
    Column("digest", String(64), primary_key=True),  # of the run card, with everything that the ranks depend on
    Column("card", JSON, nullable=False),
    Column("total", Integer, nullable=False),
    Column("begun_at", UtcDateTime, nullable=False),
    Column("finished_at", UtcDateTime),
)

audit_queries = Table(
    "audit_queries", metadata,
    Column("digest", ForeignKey("audit_runs.digest", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),  # from 0, in the benchmark
    Column("query_id", Text, nullable=False),
    Column("rankings", LargeBinary, nullable=False),  # see audits.pack_rankings
    Column("problem", Text, nullable=False),
)
