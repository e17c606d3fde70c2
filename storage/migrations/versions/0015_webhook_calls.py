"""messages to webhooks of studies"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "webhook_calls",
        sa.Column("call_id", sa.String(64), nullable=False),
        sa.Column("study_id", sa.String(64), nullable=False),
        sa.Column("event", sa.String(16), nullable=False),
        sa.Column("participant_id", sa.String(100)),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True)),
        sa.Column("delivered_at", sa.DateTime(timezone=True)),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["studies.study_id"], name="fk_webhook_calls_study_id"),
        sa.PrimaryKeyConstraint("call_id", name="pk_webhook_calls"),
    )
    op.create_index("ix_webhook_calls_study_id", "webhook_calls", ["study_id"])
    op.create_index("ix_webhook_calls_next_at", "webhook_calls", ["next_at"])


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the update")
