"""first tables"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "sessions",
        sa.Column("session_id", sa.String(64), nullable=False),
        sa.Column("gallery", sa.Text(), nullable=False),
        sa.Column("method", sa.JSON(), nullable=False),
        sa.Column("protocol", sa.JSON(), nullable=False),
        sa.Column("protocol_digest", sa.String(64), nullable=False),
        sa.Column("target_id", sa.Text()),
        sa.Column("target_live", sa.Boolean(), nullable=False),
        sa.Column("target_revealed", sa.Boolean(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("session_id", name="pk_sessions"),
    )
    op.create_index("ix_sessions_updated_at", "sessions", ["updated_at"])
    op.create_index("ix_sessions_gallery_updated_at", "sessions", ["gallery", "updated_at"])
    op.create_table(
        "branches",
        sa.Column("branch_id", sa.String(64), nullable=False),
        sa.Column("session_id", sa.String(64), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("branch_id", name="pk_branches"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.session_id"], name="fk_branches_session_id",
                                ondelete="CASCADE"),
        sa.UniqueConstraint("session_id", "number", name="uq_branches_session_id_number"),
    )
    op.create_table(
        "turns",
        sa.Column("turn_id", sa.String(64), nullable=False),
        sa.Column("session_id", sa.String(64), nullable=False),
        sa.Column("branch_id", sa.String(64), nullable=False),
        sa.Column("parent_id", sa.String(64)),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("reference_id", sa.Text(), nullable=False),
        sa.Column("modification_text", sa.Text(), nullable=False),
        sa.Column("caption", sa.Text(), nullable=False),
        sa.Column("merged_text", sa.Text(), nullable=False),
        sa.Column("notes", sa.JSON(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.Column("hits", sa.JSON(), nullable=False),
        sa.Column("hit_numbers", sa.LargeBinary(), nullable=False),
        sa.Column("excluded_ids", sa.JSON(), nullable=False),
        sa.Column("target_rank", sa.Integer()),
        sa.Column("timings_ms", sa.JSON(), nullable=False),
        sa.Column("protocol_digest", sa.String(64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("turn_id", name="pk_turns"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.session_id"], name="fk_turns_session_id",
                                ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["branch_id"], ["branches.branch_id"], name="fk_turns_branch_id",
                                ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["parent_id"], ["turns.turn_id"], name="fk_turns_parent_id",
                                ondelete="CASCADE"),
        sa.UniqueConstraint("session_id", "seq", name="uq_turns_session_id_seq"),
        sa.UniqueConstraint("branch_id", "number", name="uq_turns_branch_id_number"),
    )
    op.create_index("ix_turns_parent_id", "turns", ["parent_id"])
    op.create_table(
        "uploads",
        sa.Column("upload_id", sa.Text(), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("original_name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("upload_id", name="pk_uploads"),
    )


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the update")
