"""items whose right answer is known, for training and control"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "gold_items",
        sa.Column("item_id", sa.String(64), nullable=False),
        sa.Column("study_id", sa.String(64), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["study_items.item_id"], name="fk_gold_items_item_id"),
        sa.ForeignKeyConstraint(["study_id"], ["studies.study_id"], name="fk_gold_items_study_id"),
        sa.PrimaryKeyConstraint("item_id", name="pk_gold_items"),
    )
    op.create_index("ix_gold_items_study_id", "gold_items", ["study_id"])
    op.add_column("assignments", sa.Column("dealt", sa.String(16)))


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the update")
