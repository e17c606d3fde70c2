"""thumbs on results"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "thumbs",
        sa.Column("turn_id", sa.String(64), nullable=False),
        sa.Column("image_id", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("up", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("turn_id", "image_id", "person", name="pk_thumbs"),
        sa.ForeignKeyConstraint(["turn_id"], ["turns.turn_id"], name="fk_thumbs_turn_id", ondelete="CASCADE"),
    )


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the update")
