"""Tables of studies and people; :mod:`storage.mapping.tables` has the whole schema."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from storage.engine.schema import UtcDateTime, metadata

people = Table(
    "people", metadata,
    Column("name_key", Text, primary_key=True),  # see annotation.records.name_key
    Column("name", Text, nullable=False),
    Column("role", String(32), nullable=False),
    Column("password_hash", Text, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
)

sign_ins = Table(
    "sign_ins", metadata,
    Column("digest", String(128), primary_key=True),
    Column("name_key", ForeignKey("people.name_key", ondelete="CASCADE"), nullable=False, index=True),
    Column("created_at", UtcDateTime, nullable=False),
    Column("expires_at", UtcDateTime, nullable=False, index=True),
)

failed_logins = Table(
    "wrong_tries", metadata,
    Column("key", String(64), primary_key=True),      # digest of a name, an address, or both
    Column("tries", Integer, nullable=False),
    Column("last_at", UtcDateTime, nullable=False, index=True),
)

invitations = Table(
    "invitations", metadata,
    Column("digest", String(128), primary_key=True),
    Column("role", String(32), nullable=False),
    Column("uses_left", Integer, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("expires_at", UtcDateTime, nullable=False, index=True),
)

# Append-only. No foreign keys: entries stay when what they refer to is removed.
audit_log = Table(
    "audit_log", metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("at", UtcDateTime, nullable=False),
    Column("kind", String(32), nullable=False),
    Column("actor_key", Text, nullable=False),  # see annotation.records.name_key; "" if unknown
    Column("actor", Text, nullable=False),
    Column("about_key", Text, nullable=False),
    Column("about", Text, nullable=False),
    Column("study_id", String(64)),
    Column("details", JSON, nullable=False),
    Index(None, "actor_key", "number"),
    Index(None, "about_key", "number"),
    Index(None, "kind", "number"),
    Index(None, "at"),
)

studies = Table(
    "studies", metadata,
    Column("study_id", String(64), primary_key=True),
    Column("name_key", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("kind", String(32), nullable=False),
    Column("protocol", Text, nullable=False),
    Column("plan", JSON, nullable=False),
    Column("accepting", Boolean, nullable=False),
    Column("settings", JSON, nullable=False),
    Column("source", JSON, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    UniqueConstraint("name_key"),
)

study_images = Table(
    "study_images", metadata,
    Column("study_id", ForeignKey("studies.study_id", ondelete="CASCADE"), primary_key=True),
    Column("token", String(64), primary_key=True),
    Column("image_id", Text, nullable=False),
    Column("width", Integer, nullable=False),
    Column("height", Integer, nullable=False),
)

study_items = Table(
    "study_items", metadata,
    Column("item_id", String(64), primary_key=True),
    Column("study_id", ForeignKey("studies.study_id", ondelete="CASCADE"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("key", Text, nullable=False),
    Column("stratum", Text, nullable=False),
    Column("in_block", Boolean, nullable=False),
    Column("shown", JSON, nullable=False),
    Column("hidden", JSON, nullable=False),
    UniqueConstraint("study_id", "number"),
    UniqueConstraint("study_id", "key"),
)

study_seats = Table(
    "study_seats", metadata,
    Column("study_id", ForeignKey("studies.study_id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("annotator_key", Text),  # NULL until the seat is taken
    Column("annotator", Text),
    Column("joined_at", UtcDateTime),
    Column("seen_at", UtcDateTime),
    Column("released", Boolean, nullable=False),  # open assignments may be reassigned at once
    # Denormalised counts, updated with the assignments, so that loading a workspace takes constant time.
    Column("total", Integer, nullable=False),
    Column("done", Integer, nullable=False),
    Column("unsure", Integer, nullable=False),
    UniqueConstraint("study_id", "annotator_key"),
)

assignments = Table(
    "assignments", metadata,
    Column("item_id", ForeignKey("study_items.item_id", ondelete="CASCADE"), primary_key=True),
    Column("seat", Integer, primary_key=True, autoincrement=False),
    Column("study_id", String(64), nullable=False),
    Column("position", Integer, nullable=False),
    Column("state", String(16), nullable=False),
    Column("extra", JSON(none_as_null=True)),  # NULL for none, as in validity studies
    # Sticky fields that were true in any answer or draft of this seat: ["panel_opened"]. NULL for none.
    Column("lasting", JSON(none_as_null=True)),
    ForeignKeyConstraint(["study_id", "seat"], ["study_seats.study_id", "study_seats.number"], ondelete="CASCADE"),
    Index(None, "study_id", "seat", "state", "position"),
)

judgements = Table(
    "judgements", metadata,
    Column("judgement_id", String(64), primary_key=True),
    Column("study_id", String(64), nullable=False),
    # No cascade, here and for decisions: judgements are never deleted implicitly with their study.
    Column("item_id", ForeignKey("study_items.item_id"), nullable=False),
    Column("seat", Integer, nullable=False),
    Column("annotator", Text, nullable=False),  # as the seat has it
    Column("revision", Integer, nullable=False),
    Column("current", Boolean, nullable=False),  # the highest revision
    Column("token", Text, nullable=False),
    Column("protocol", Text, nullable=False),
    Column("answer", JSON, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("extra", JSON, nullable=False),
    ForeignKeyConstraint(["study_id", "seat"], ["study_seats.study_id", "study_seats.number"]),
    UniqueConstraint("item_id", "seat", "revision"),
    UniqueConstraint("item_id", "seat", "token"),
    Index(None, "study_id", "seat", "created_at"),
)

drafts = Table(
    "drafts", metadata,
    Column("item_id", ForeignKey("study_items.item_id", ondelete="CASCADE"), primary_key=True),
    Column("seat", Integer, primary_key=True, autoincrement=False),
    Column("study_id", String(64), nullable=False),
    Column("annotator", Text, nullable=False),
    Column("answer", JSON, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
    ForeignKeyConstraint(["study_id", "seat"], ["study_seats.study_id", "study_seats.number"], ondelete="CASCADE"),
)

study_events = Table(
    "study_events", metadata,
    Column("event_id", String(64), primary_key=True),
    Column("study_id", String(64), nullable=False),
    Column("seat", Integer, nullable=False),
    Column("number", Integer, nullable=False),  # from 1 within the seat: times can be equal
    Column("annotator", Text, nullable=False),  # as the seat has it
    Column("kind", String(32), nullable=False),
    Column("token", Text, nullable=False),
    Column("payload", JSON, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    # No cascade: records of consent are never deleted implicitly with the study.
    ForeignKeyConstraint(["study_id", "seat"], ["study_seats.study_id", "study_seats.number"]),
    UniqueConstraint("study_id", "seat", "number"),
    UniqueConstraint("study_id", "seat", "token"),
)

decisions = Table(
    "decisions", metadata,
    Column("decision_id", String(64), primary_key=True),
    Column("study_id", ForeignKey("studies.study_id"), nullable=False),
    Column("item_id", ForeignKey("study_items.item_id"), nullable=False),
    Column("adjudicator", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("current", Boolean, nullable=False),
    Column("token", Text, nullable=False),
    Column("answer", JSON, nullable=False),
    Column("reason", Text, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    UniqueConstraint("item_id", "revision"),
    UniqueConstraint("item_id", "token"),
    Index(None, "study_id", "current"),
)

study_scores = Table(
    "study_scores", metadata,
    # A new id at each save: see storage.studies.version_stamp.
    Column("score_id", String(64), primary_key=True),
    Column("study_id", ForeignKey("studies.study_id", ondelete="CASCADE"), nullable=False),
    Column("name_key", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("notes", JSON, nullable=False),
    Column("scores", JSON, nullable=False),  # {item_id: [set 1, set 2]}, null for a set without a score
    Column("created_by", Text, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    UniqueConstraint("study_id", "name_key"),
)
