"""Tables of studies and people; :mod:`storage.mapping.tables` has the whole schema."""

from __future__ import annotations

import sqlalchemy as sa

from storage.engine.schema import UtcDateTime, metadata

people = sa.Table(
    "people", metadata,
    sa.Column("name_key", sa.Text, primary_key=True),  # see annotation.records.name_key
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("role", sa.String(32), nullable=False),
    sa.Column("password_hash", sa.Text, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
)

sign_ins = sa.Table(
    "sign_ins", metadata,
    sa.Column("digest", sa.String(128), primary_key=True),
    sa.Column("name_key", sa.ForeignKey("people.name_key", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Column("expires_at", UtcDateTime, nullable=False, index=True),
)

failed_logins = sa.Table(
    "wrong_tries", metadata,
    sa.Column("key", sa.String(64), primary_key=True),      # digest of a name, an address, or both
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("last_at", UtcDateTime, nullable=False, index=True),
)

invitations = sa.Table(
    "invitations", metadata,
    sa.Column("digest", sa.String(128), primary_key=True),
    sa.Column("role", sa.String(32), nullable=False),
    sa.Column("uses_left", sa.Integer, nullable=False),
    sa.Column("created_by", sa.Text, nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Column("expires_at", UtcDateTime, nullable=False, index=True),
)

# Append-only. No foreign keys: entries stay when what they refer to is removed.
audit_log = sa.Table(
    "audit_log", metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("at", UtcDateTime, nullable=False),
    sa.Column("kind", sa.String(32), nullable=False),
    sa.Column("actor_key", sa.Text, nullable=False),  # see annotation.records.name_key; "" if unknown
    sa.Column("actor", sa.Text, nullable=False),
    sa.Column("about_key", sa.Text, nullable=False),
    sa.Column("about", sa.Text, nullable=False),
    sa.Column("study_id", sa.String(64)),
    sa.Column("details", sa.JSON, nullable=False),
    sa.Index(None, "actor_key", "number"),
    sa.Index(None, "about_key", "number"),
    sa.Index(None, "kind", "number"),
    sa.Index(None, "at"),
)

studies = sa.Table(
    "studies", metadata,
    sa.Column("study_id", sa.String(64), primary_key=True),
    sa.Column("name_key", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("kind", sa.String(32), nullable=False),
    sa.Column("protocol", sa.Text, nullable=False),
    sa.Column("plan", sa.JSON, nullable=False),
    sa.Column("accepting", sa.Boolean, nullable=False),
    sa.Column("settings", sa.JSON, nullable=False),
    sa.Column("source", sa.JSON, nullable=False),
    sa.Column("created_by", sa.Text, nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.UniqueConstraint("name_key"),
)

study_images = sa.Table(
    "study_images", metadata,
    sa.Column("study_id", sa.ForeignKey("studies.study_id", ondelete="CASCADE"), primary_key=True),
    sa.Column("token", sa.String(64), primary_key=True),
    sa.Column("image_id", sa.Text, nullable=False),
    sa.Column("width", sa.Integer, nullable=False),
    sa.Column("height", sa.Integer, nullable=False),
)

study_items = sa.Table(
    "study_items", metadata,
    sa.Column("item_id", sa.String(64), primary_key=True),
    sa.Column("study_id", sa.ForeignKey("studies.study_id", ondelete="CASCADE"), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("stratum", sa.Text, nullable=False),
    sa.Column("in_block", sa.Boolean, nullable=False),
    sa.Column("shown", sa.JSON, nullable=False),
    sa.Column("hidden", sa.JSON, nullable=False),
    sa.UniqueConstraint("study_id", "number"),
    sa.UniqueConstraint("study_id", "key"),
)

study_seats = sa.Table(
    "study_seats", metadata,
    sa.Column("study_id", sa.ForeignKey("studies.study_id", ondelete="CASCADE"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("annotator_key", sa.Text),  # NULL until the seat is taken
    sa.Column("annotator", sa.Text),
    sa.Column("joined_at", UtcDateTime),
    sa.Column("seen_at", UtcDateTime),
    sa.Column("released", sa.Boolean, nullable=False),  # open assignments may be reassigned at once
    # Denormalised counts, updated with the assignments, so that loading a workspace takes constant time.
    sa.Column("total", sa.Integer, nullable=False),
    sa.Column("done", sa.Integer, nullable=False),
    sa.Column("unsure", sa.Integer, nullable=False),
    sa.UniqueConstraint("study_id", "annotator_key"),
)

assignments = sa.Table(
    "assignments", metadata,
    sa.Column("item_id", sa.ForeignKey("study_items.item_id", ondelete="CASCADE"), primary_key=True),
    sa.Column("seat", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("study_id", sa.String(64), nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("extra", sa.JSON(none_as_null=True)),  # NULL for none, as in validity studies
    # Sticky fields that were true in any answer or draft of this seat: ["panel_opened"]. NULL for none.
    sa.Column("lasting", sa.JSON(none_as_null=True)),
    sa.Column("dealt", sa.String(16)),  # gold or training: given only because its answer is known
    sa.ForeignKeyConstraint(["study_id", "seat"], ["study_seats.study_id", "study_seats.number"], ondelete="CASCADE"),
    sa.Index(None, "study_id", "seat", "state", "position"),
)

judgements = sa.Table(
    "judgements", metadata,
    sa.Column("judgement_id", sa.String(64), primary_key=True),
    sa.Column("study_id", sa.String(64), nullable=False),
    # No cascade, here and for decisions: judgements are never deleted implicitly with their study.
    sa.Column("item_id", sa.ForeignKey("study_items.item_id"), nullable=False),
    sa.Column("seat", sa.Integer, nullable=False),
    sa.Column("annotator", sa.Text, nullable=False),  # as the seat has it
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("current", sa.Boolean, nullable=False),  # the highest revision
    sa.Column("token", sa.Text, nullable=False),
    sa.Column("protocol", sa.Text, nullable=False),
    sa.Column("answer", sa.JSON, nullable=False),
    sa.Column("seconds", sa.Double, nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Column("extra", sa.JSON, nullable=False),
    sa.ForeignKeyConstraint(["study_id", "seat"], ["study_seats.study_id", "study_seats.number"]),
    sa.UniqueConstraint("item_id", "seat", "revision"),
    sa.UniqueConstraint("item_id", "seat", "token"),
    sa.Index(None, "study_id", "seat", "created_at"),
)

drafts = sa.Table(
    "drafts", metadata,
    sa.Column("item_id", sa.ForeignKey("study_items.item_id", ondelete="CASCADE"), primary_key=True),
    sa.Column("seat", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("study_id", sa.String(64), nullable=False),
    sa.Column("annotator", sa.Text, nullable=False),
    sa.Column("answer", sa.JSON, nullable=False),
    sa.Column("seconds", sa.Double, nullable=False),
    sa.Column("updated_at", UtcDateTime, nullable=False),
    sa.ForeignKeyConstraint(["study_id", "seat"], ["study_seats.study_id", "study_seats.number"], ondelete="CASCADE"),
)

study_events = sa.Table(
    "study_events", metadata,
    sa.Column("event_id", sa.String(64), primary_key=True),
    sa.Column("study_id", sa.String(64), nullable=False),
    sa.Column("seat", sa.Integer, nullable=False),
    sa.Column("number", sa.Integer, nullable=False),  # from 1 within the seat: times can be equal
    sa.Column("annotator", sa.Text, nullable=False),  # as the seat has it
    sa.Column("kind", sa.String(32), nullable=False),
    sa.Column("token", sa.Text, nullable=False),
    sa.Column("payload", sa.JSON, nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
    # No cascade: records of consent are never deleted implicitly with the study.
    sa.ForeignKeyConstraint(["study_id", "seat"], ["study_seats.study_id", "study_seats.number"]),
    sa.UniqueConstraint("study_id", "seat", "number"),
    sa.UniqueConstraint("study_id", "seat", "token"),
)

decisions = sa.Table(
    "decisions", metadata,
    sa.Column("decision_id", sa.String(64), primary_key=True),
    sa.Column("study_id", sa.ForeignKey("studies.study_id"), nullable=False),
    sa.Column("item_id", sa.ForeignKey("study_items.item_id"), nullable=False),
    sa.Column("adjudicator", sa.Text, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("current", sa.Boolean, nullable=False),
    sa.Column("token", sa.Text, nullable=False),
    sa.Column("answer", sa.JSON, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.UniqueConstraint("item_id", "revision"),
    sa.UniqueConstraint("item_id", "token"),
    sa.Index(None, "study_id", "current"),
)

first_answers = sa.Table(
    "first_answers", metadata,
    # No cascade, here and for messages: nothing that people said goes implicitly with the study.
    sa.Column("item_id", sa.ForeignKey("study_items.item_id"), primary_key=True),
    sa.Column("adjudicator_key", sa.Text, primary_key=True),
    sa.Column("study_id", sa.ForeignKey("studies.study_id"), nullable=False),
    sa.Column("adjudicator", sa.Text, nullable=False),
    sa.Column("answer", sa.JSON, nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Index(None, "study_id"),
)

messages = sa.Table(
    "messages", metadata,
    sa.Column("message_id", sa.String(64), primary_key=True),
    sa.Column("study_id", sa.ForeignKey("studies.study_id"), nullable=False),
    sa.Column("item_id", sa.ForeignKey("study_items.item_id"), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),  # from 1 within the item: times can be equal
    sa.Column("author", sa.Text, nullable=False),
    sa.Column("role", sa.String(16), nullable=False),
    sa.Column("token", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.UniqueConstraint("item_id", "number"),
    sa.UniqueConstraint("item_id", "token"),
    sa.Index(None, "study_id"),
)

gold_items = sa.Table(
    "gold_items", metadata,
    sa.Column("item_id", sa.ForeignKey("study_items.item_id"), primary_key=True),
    sa.Column("study_id", sa.ForeignKey("studies.study_id"), nullable=False),
    sa.Column("role", sa.String(16), nullable=False),
    sa.Column("answer", sa.JSON, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("created_by", sa.Text, nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Index(None, "study_id"),
)

study_scores = sa.Table(
    "study_scores", metadata,
    # A new id at each save: see storage.studies.version_stamp.
    sa.Column("score_id", sa.String(64), primary_key=True),
    sa.Column("study_id", sa.ForeignKey("studies.study_id", ondelete="CASCADE"), nullable=False),
    sa.Column("name_key", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("description", sa.Text, nullable=False),
    sa.Column("notes", sa.JSON, nullable=False),
    sa.Column("scores", sa.JSON, nullable=False),  # {item_id: [score, ...]}, see MetricScores; null for none
    sa.Column("created_by", sa.Text, nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.UniqueConstraint("study_id", "name_key"),
)

recruitments = sa.Table(
    "recruitments", metadata,
    sa.Column("study_id", sa.ForeignKey("studies.study_id"), primary_key=True),
    sa.Column("token", sa.String(64), nullable=False),
    sa.Column("secret", sa.String(64), nullable=False),
    sa.Column("settings", sa.JSON, nullable=False),
    sa.UniqueConstraint("token"),
)

participants = sa.Table(
    "participants", metadata,
    # No cascade: records of consent and payment are never deleted implicitly with the study.
    sa.Column("study_id", sa.ForeignKey("studies.study_id"), primary_key=True),
    sa.Column("participant_id", sa.String(100), primary_key=True),   # with case: sites tell "a" from "A"
    sa.Column("annotator", sa.Text, nullable=False),                 # whose seat it is
    sa.Column("site", sa.JSON, nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("answers", sa.JSON, nullable=False),
    sa.Column("consent", sa.Text, nullable=False),
    sa.Column("entered_at", UtcDateTime, nullable=False),
    sa.Column("seated_at", UtcDateTime),
    sa.Column("finished_at", UtcDateTime),
    sa.Column("code", sa.Text, nullable=False),
    sa.Column("payment", sa.String(16), nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.UniqueConstraint("study_id", "annotator"),
)

webhook_calls = sa.Table(
    "webhook_calls", metadata,
    sa.Column("call_id", sa.String(64), primary_key=True),
    sa.Column("study_id", sa.ForeignKey("studies.study_id"), nullable=False),
    sa.Column("event", sa.String(16), nullable=False),
    sa.Column("participant_id", sa.String(100)),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("next_at", UtcDateTime),        # null: delivered, or given up
    sa.Column("delivered_at", UtcDateTime),
    sa.Column("problem", sa.Text, nullable=False),
    sa.Index(None, "study_id"),
    sa.Index(None, "next_at"),
)
