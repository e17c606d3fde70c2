"""audit log of who did what"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "audit_log",
        sa.Column("number", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("actor_key", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("about_key", sa.Text(), nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        sa.Column("study_id", sa.String(64), nullable=True),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_audit_log"),
    )
    op.create_index("ix_audit_log_actor_key_number", "audit_log", ["actor_key", "number"])
    op.create_index("ix_audit_log_about_key_number", "audit_log", ["about_key", "number"])
    op.create_index("ix_audit_log_kind_number", "audit_log", ["kind", "number"])
    op.create_index("ix_audit_log_at", "audit_log", ["at"])


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the update")
