"""wrong passwords, counted for all processes"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "wrong_tries",
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_wrong_tries"),
    )
    op.create_index("ix_wrong_tries_last_at", "wrong_tries", ["last_at"])


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the update")
