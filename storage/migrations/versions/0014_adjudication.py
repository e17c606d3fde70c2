"""adjudicators' own answers, given before they see those of the judges, and discussions on items"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "first_answers",
        sa.Column("item_id", sa.String(64), nullable=False),
        sa.Column("adjudicator_key", sa.Text(), nullable=False),
        sa.Column("study_id", sa.String(64), nullable=False),
        sa.Column("adjudicator", sa.Text(), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["study_items.item_id"], name="fk_first_answers_item_id"),
        sa.ForeignKeyConstraint(["study_id"], ["studies.study_id"], name="fk_first_answers_study_id"),
        sa.PrimaryKeyConstraint("item_id", "adjudicator_key", name="pk_first_answers"),
    )
    op.create_index("ix_first_answers_study_id", "first_answers", ["study_id"])
    op.create_table(
        "messages",
        sa.Column("message_id", sa.String(64), nullable=False),
        sa.Column("study_id", sa.String(64), nullable=False),
        sa.Column("item_id", sa.String(64), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["study_items.item_id"], name="fk_messages_item_id"),
        sa.ForeignKeyConstraint(["study_id"], ["studies.study_id"], name="fk_messages_study_id"),
        sa.PrimaryKeyConstraint("message_id", name="pk_messages"),
        sa.UniqueConstraint("item_id", "number", name="uq_messages_item_id_number"),
        sa.UniqueConstraint("item_id", "token", name="uq_messages_item_id_token"),
    )
    op.create_index("ix_messages_study_id", "messages", ["study_id"])


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the update")
