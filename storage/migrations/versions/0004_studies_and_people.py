"""studies and people"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "people",
        sa.Column("name_key", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.String(32), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name_key", name="pk_people"),
    )
    op.create_table(
        "sign_ins",
        sa.Column("digest", sa.String(128), nullable=False),
        sa.Column("name_key", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["name_key"], ["people.name_key"],
                                name="fk_sign_ins_name_key", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("digest", name="pk_sign_ins"),
    )
    op.create_index("ix_sign_ins_name_key", "sign_ins", ["name_key"])
    op.create_index("ix_sign_ins_expires_at", "sign_ins", ["expires_at"])
    op.create_table(
        "invitations",
        sa.Column("digest", sa.String(128), nullable=False),
        sa.Column("role", sa.String(32), nullable=False),
        sa.Column("uses_left", sa.Integer(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_invitations"),
    )
    op.create_index("ix_invitations_expires_at", "invitations", ["expires_at"])
    op.create_table(
        "studies",
        sa.Column("study_id", sa.String(64), nullable=False),
        sa.Column("name_key", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("protocol", sa.Text(), nullable=False),
        sa.Column("plan", sa.JSON(), nullable=False),
        sa.Column("accepting", sa.Boolean(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("source", sa.JSON(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("study_id", name="pk_studies"),
        sa.UniqueConstraint("name_key", name="uq_studies_name_key"),
    )
    op.create_table(
        "study_images",
        sa.Column("study_id", sa.String(64), nullable=False),
        sa.Column("token", sa.String(64), nullable=False),
        sa.Column("image_id", sa.Text(), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["studies.study_id"],
                                name="fk_study_images_study_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("study_id", "token", name="pk_study_images"),
    )
    op.create_table(
        "study_items",
        sa.Column("item_id", sa.String(64), nullable=False),
        sa.Column("study_id", sa.String(64), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("stratum", sa.Text(), nullable=False),
        sa.Column("in_block", sa.Boolean(), nullable=False),
        sa.Column("shown", sa.JSON(), nullable=False),
        sa.Column("hidden", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["studies.study_id"],
                                name="fk_study_items_study_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("item_id", name="pk_study_items"),
        sa.UniqueConstraint("study_id", "key", name="uq_study_items_study_id_key"),
        sa.UniqueConstraint("study_id", "number", name="uq_study_items_study_id_number"),
    )
    op.create_table(
        "study_seats",
        sa.Column("study_id", sa.String(64), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("annotator_key", sa.Text()),
        sa.Column("annotator", sa.Text()),
        sa.Column("joined_at", sa.DateTime(timezone=True)),
        sa.Column("seen_at", sa.DateTime(timezone=True)),
        sa.Column("released", sa.Boolean(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("unsure", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["studies.study_id"],
                                name="fk_study_seats_study_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("study_id", "number", name="pk_study_seats"),
        sa.UniqueConstraint("study_id", "annotator_key", name="uq_study_seats_study_id_annotator_key"),
    )
    op.create_table(
        "assignments",
        sa.Column("item_id", sa.String(64), nullable=False),
        sa.Column("seat", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("study_id", sa.String(64), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("extra", sa.JSON()),
        sa.Column("lasting", sa.JSON()),
        sa.ForeignKeyConstraint(["item_id"], ["study_items.item_id"],
                                name="fk_assignments_item_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["study_id", "seat"], ["study_seats.study_id", "study_seats.number"],
                                name="fk_assignments_study_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("item_id", "seat", name="pk_assignments"),
    )
    op.create_index("ix_assignments_study_id_seat_state_position", "assignments",
                    ["study_id", "seat", "state", "position"])
    op.create_table(
        "judgements",
        sa.Column("judgement_id", sa.String(64), nullable=False),
        sa.Column("study_id", sa.String(64), nullable=False),
        sa.Column("item_id", sa.String(64), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("annotator", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("current", sa.Boolean(), nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("protocol", sa.Text(), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("extra", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["study_items.item_id"], name="fk_judgements_item_id"),
        sa.ForeignKeyConstraint(["study_id", "seat"], ["study_seats.study_id", "study_seats.number"],
                                name="fk_judgements_study_id"),
        sa.PrimaryKeyConstraint("judgement_id", name="pk_judgements"),
        sa.UniqueConstraint("item_id", "seat", "revision", name="uq_judgements_item_id_seat_revision"),
        sa.UniqueConstraint("item_id", "seat", "token", name="uq_judgements_item_id_seat_token"),
    )
    op.create_index("ix_judgements_study_id_seat_created_at", "judgements", ["study_id", "seat", "created_at"])
    op.create_table(
        "drafts",
        sa.Column("item_id", sa.String(64), nullable=False),
        sa.Column("seat", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("study_id", sa.String(64), nullable=False),
        sa.Column("annotator", sa.Text(), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["study_items.item_id"],
                                name="fk_drafts_item_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["study_id", "seat"], ["study_seats.study_id", "study_seats.number"],
                                name="fk_drafts_study_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("item_id", "seat", name="pk_drafts"),
    )
    op.create_table(
        "study_events",
        sa.Column("event_id", sa.String(64), nullable=False),
        sa.Column("study_id", sa.String(64), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("annotator", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["study_id", "seat"], ["study_seats.study_id", "study_seats.number"],
                                name="fk_study_events_study_id"),
        sa.PrimaryKeyConstraint("event_id", name="pk_study_events"),
        sa.UniqueConstraint("study_id", "seat", "number", name="uq_study_events_study_id_seat_number"),
        sa.UniqueConstraint("study_id", "seat", "token", name="uq_study_events_study_id_seat_token"),
    )
    op.create_table(
        "decisions",
        sa.Column("decision_id", sa.String(64), nullable=False),
        sa.Column("study_id", sa.String(64), nullable=False),
        sa.Column("item_id", sa.String(64), nullable=False),
        sa.Column("adjudicator", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("current", sa.Boolean(), nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["study_items.item_id"], name="fk_decisions_item_id"),
        sa.ForeignKeyConstraint(["study_id"], ["studies.study_id"], name="fk_decisions_study_id"),
        sa.PrimaryKeyConstraint("decision_id", name="pk_decisions"),
        sa.UniqueConstraint("item_id", "revision", name="uq_decisions_item_id_revision"),
        sa.UniqueConstraint("item_id", "token", name="uq_decisions_item_id_token"),
    )
    op.create_index("ix_decisions_study_id_current", "decisions", ["study_id", "current"])


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the update")
