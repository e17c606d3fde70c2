"""The database schema. ``migrations/`` builds it step by step; a test checks that both agree."""

from __future__ import annotations

import sqlalchemy as sa

from storage.engine.schema import UtcDateTime as UtcDateTime
from storage.engine.schema import metadata as metadata
from storage.mapping.study_tables import assignments as assignments
from storage.mapping.study_tables import audit_log as audit_log
from storage.mapping.study_tables import decisions as decisions
from storage.mapping.study_tables import drafts as drafts
from storage.mapping.study_tables import failed_logins as failed_logins
from storage.mapping.study_tables import first_answers as first_answers
from storage.mapping.study_tables import gold_items as gold_items
from storage.mapping.study_tables import invitations as invitations
from storage.mapping.study_tables import judgements as judgements
from storage.mapping.study_tables import messages as messages
from storage.mapping.study_tables import participants as participants
from storage.mapping.study_tables import people as people
from storage.mapping.study_tables import recruitments as recruitments
from storage.mapping.study_tables import sign_ins as sign_ins
from storage.mapping.study_tables import studies as studies
from storage.mapping.study_tables import study_events as study_events
from storage.mapping.study_tables import study_images as study_images
from storage.mapping.study_tables import study_items as study_items
from storage.mapping.study_tables import study_scores as study_scores
from storage.mapping.study_tables import study_seats as study_seats
from storage.mapping.study_tables import webhook_calls as webhook_calls

sessions = sa.Table(
    "sessions", metadata,
    sa.Column("session_id", sa.String(64), primary_key=True),
    sa.Column("gallery", sa.Text, nullable=False),
    sa.Column("method", sa.JSON, nullable=False),
    sa.Column("protocol", sa.JSON, nullable=False),
    sa.Column("protocol_digest", sa.String(64), nullable=False),
    sa.Column("target_id", sa.Text),
    sa.Column("target_live", sa.Boolean, nullable=False),
    sa.Column("target_revealed", sa.Boolean, nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Column("updated_at", UtcDateTime, nullable=False),  # last turn or reveal; renaming does not count
    sa.Column("owner", sa.Text),              # name of the account that began it, if there was one
    sa.Column("removed_at", UtcDateTime),     # when its owner took it off their list; nothing is deleted
    sa.Index(None, "updated_at"),
    sa.Index(None, "gallery", "updated_at"),
    sa.Index(None, "owner", "updated_at"),
)

branches = sa.Table(
    "branches", metadata,
    sa.Column("branch_id", sa.String(64), primary_key=True),
    sa.Column("session_id", sa.ForeignKey("sessions.session_id", ondelete="CASCADE"), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("removed_at", UtcDateTime),     # when a person deleted it; its turns stay stored
    sa.UniqueConstraint("session_id", "number"),
)

turns = sa.Table(
    "turns", metadata,
    sa.Column("turn_id", sa.String(64), primary_key=True),
    sa.Column("session_id", sa.ForeignKey("sessions.session_id", ondelete="CASCADE"), nullable=False),
    sa.Column("branch_id", sa.ForeignKey("branches.branch_id", ondelete="CASCADE"), nullable=False),
    sa.Column("parent_id", sa.ForeignKey("turns.turn_id", ondelete="CASCADE"), index=True),
    sa.Column("number", sa.Integer, nullable=False),  # depth in the tree
    sa.Column("seq", sa.Integer, nullable=False),     # order in the session, from 1
    sa.Column("reference_id", sa.Text, nullable=False),
    sa.Column("modification_text", sa.Text, nullable=False),
    sa.Column("caption", sa.Text, nullable=False),
    sa.Column("merged_text", sa.Text, nullable=False),
    sa.Column("notes", sa.JSON, nullable=False),
    sa.Column("vector", sa.LargeBinary, nullable=False),  # float32, little-endian
    sa.Column("hits", sa.JSON, nullable=False),           # in columns, see rows.pack_hits
    sa.Column("hit_numbers", sa.LargeBinary, nullable=False),
    sa.Column("excluded_ids", sa.JSON, nullable=False),
    sa.Column("target_rank", sa.Integer),
    sa.Column("timings_ms", sa.JSON, nullable=False),
    sa.Column("protocol_digest", sa.String(64), nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Column("composition", sa.JSON(none_as_null=True)),  # see compositions.py; turns of 0.1 have none
    sa.Column("composition_vectors", sa.LargeBinary),
    sa.UniqueConstraint("session_id", "seq"),
    sa.UniqueConstraint("branch_id", "number"),  # a branch is a line: one turn at each depth
)

thumbs = sa.Table(
    "thumbs", metadata,
    sa.Column("turn_id", sa.ForeignKey("turns.turn_id", ondelete="CASCADE"), primary_key=True),
    sa.Column("image_id", sa.Text, primary_key=True),
    sa.Column("person", sa.Text, primary_key=True),
    sa.Column("up", sa.Boolean, nullable=False),   # this is what was asked; else it is not
    sa.Column("created_at", UtcDateTime, nullable=False),
)

uploads = sa.Table(
    "uploads", metadata,
    sa.Column("upload_id", sa.Text, primary_key=True),
    sa.Column("width", sa.Integer, nullable=False),
    sa.Column("height", sa.Integer, nullable=False),
    sa.Column("original_name", sa.Text, nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
)

answers = sa.Table(
    "answers", metadata,
    sa.Column("key", sa.String(64), primary_key=True),  # hash of everything that the answer depends on
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("prompt_version", sa.Text, nullable=False),
    sa.Column("answer", sa.Text, nullable=False),
    sa.Column("prompt_tokens", sa.Integer, nullable=False),
    sa.Column("completion_tokens", sa.Integer, nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
)

comparisons = sa.Table(
    "comparisons", metadata,
    sa.Column("comparison_id", sa.String(64), primary_key=True),
    sa.Column("gallery", sa.Text, nullable=False),
    sa.Column("reference_id", sa.Text, nullable=False),
    sa.Column("modification_text", sa.Text, nullable=False),
    # Origin, for the record: no foreign key, so that the comparison survives the
    # deletion of its session.
    sa.Column("session_id", sa.String(64)),
    sa.Column("parent_id", sa.String(64)),
    sa.Column("blind", sa.Boolean, nullable=False),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
)

comparison_columns = sa.Table(
    "comparison_columns", metadata,
    sa.Column("comparison_id", sa.ForeignKey("comparisons.comparison_id", ondelete="CASCADE"), primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),  # from 0, as shown
    sa.Column("method", sa.Text, nullable=False),
    sa.Column("protocol", sa.JSON, nullable=False),
    sa.Column("protocol_digest", sa.String(64), nullable=False),
    sa.Column("caption", sa.Text, nullable=False),
    sa.Column("merged_text", sa.Text, nullable=False),
    sa.Column("notes", sa.JSON, nullable=False),
    sa.Column("hits", sa.JSON, nullable=False),  # this and the next column as in turns
    sa.Column("hit_numbers", sa.LargeBinary, nullable=False),
    sa.Column("timings_ms", sa.JSON, nullable=False),
    sa.Column("composition", sa.JSON(none_as_null=True)),
    sa.Column("composition_vectors", sa.LargeBinary),
    sa.Column("problem", sa.Text, nullable=False),
)

method_votes = sa.Table(
    "method_votes", metadata,
    sa.Column("vote_id", sa.String(64), primary_key=True),
    # No cascade: votes are never deleted implicitly with their comparison.
    sa.Column("comparison_id", sa.ForeignKey("comparisons.comparison_id"), nullable=False),
    sa.Column("annotator", sa.Text, nullable=False),
    sa.Column("shown", sa.JSON, nullable=False),
    sa.Column("chosen", sa.Text),
    sa.Column("blind", sa.Boolean, nullable=False),
    sa.Column("seconds", sa.Double, nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.UniqueConstraint("comparison_id", "annotator"),
)

audit_runs = sa.Table(
    "audit_runs", metadata,
    sa.Column("digest", sa.String(64), primary_key=True),  # of the run card, with everything that the ranks depend on
    sa.Column("card", sa.JSON, nullable=False),
    sa.Column("total", sa.Integer, nullable=False),
    sa.Column("begun_at", UtcDateTime, nullable=False),
    sa.Column("finished_at", UtcDateTime),
)

audit_queries = sa.Table(
    "audit_queries", metadata,
    sa.Column("digest", sa.ForeignKey("audit_runs.digest", ondelete="CASCADE"), primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),  # from 0, in the benchmark
    sa.Column("query_id", sa.Text, nullable=False),
    sa.Column("rankings", sa.LargeBinary, nullable=False),  # see audits.pack_rankings
    sa.Column("problem", sa.Text, nullable=False),
)
