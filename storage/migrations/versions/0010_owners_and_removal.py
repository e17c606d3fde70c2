"""accounts that began search sessions; sessions and branches that a person took off the screen"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sessions", sa.Column("owner", sa.Text(), nullable=True))
    op.add_column("sessions", sa.Column("removed_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("branches", sa.Column("removed_at", sa.DateTime(timezone=True), nullable=True))
    op.create_index("ix_sessions_owner_updated_at", "sessions", ["owner", "updated_at"])


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the update")
