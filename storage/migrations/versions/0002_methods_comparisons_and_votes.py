"""methods, comparisons and votes"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Both may be empty, so that no row has to be rewritten: turns stored before have neither.
    op.add_column("turns", sa.Column("composition", sa.JSON()))
    op.add_column("turns", sa.Column("composition_vectors", sa.LargeBinary()))
    op.create_table(
        "answers",
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("prompt_version", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("prompt_tokens", sa.Integer(), nullable=False),
        sa.Column("completion_tokens", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_answers"),
    )
    op.create_table(
        "comparisons",
        sa.Column("comparison_id", sa.String(64), nullable=False),
        sa.Column("gallery", sa.Text(), nullable=False),
        sa.Column("reference_id", sa.Text(), nullable=False),
        sa.Column("modification_text", sa.Text(), nullable=False),
        sa.Column("session_id", sa.String(64)),
        sa.Column("parent_id", sa.String(64)),
        sa.Column("blind", sa.Boolean(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("comparison_id", name="pk_comparisons"),
    )
    op.create_table(
        "comparison_columns",
        sa.Column("comparison_id", sa.String(64), nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("protocol", sa.JSON(), nullable=False),
        sa.Column("protocol_digest", sa.String(64), nullable=False),
        sa.Column("caption", sa.Text(), nullable=False),
        sa.Column("merged_text", sa.Text(), nullable=False),
        sa.Column("notes", sa.JSON(), nullable=False),
        sa.Column("hits", sa.JSON(), nullable=False),
        sa.Column("hit_numbers", sa.LargeBinary(), nullable=False),
        sa.Column("timings_ms", sa.JSON(), nullable=False),
        sa.Column("composition", sa.JSON()),
        sa.Column("composition_vectors", sa.LargeBinary()),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("comparison_id", "position", name="pk_comparison_columns"),
        sa.ForeignKeyConstraint(["comparison_id"], ["comparisons.comparison_id"],
                                name="fk_comparison_columns_comparison_id", ondelete="CASCADE"),
    )
    op.create_table(
        "method_votes",
        sa.Column("vote_id", sa.String(64), nullable=False),
        sa.Column("comparison_id", sa.String(64), nullable=False),
        sa.Column("annotator", sa.Text(), nullable=False),
        sa.Column("shown", sa.JSON(), nullable=False),
        sa.Column("chosen", sa.Text()),
        sa.Column("blind", sa.Boolean(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("vote_id", name="pk_method_votes"),
        sa.ForeignKeyConstraint(["comparison_id"], ["comparisons.comparison_id"],
                                name="fk_method_votes_comparison_id"),
        sa.UniqueConstraint("comparison_id", "annotator", name="uq_method_votes_comparison_id_annotator"),
    )


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the update")
