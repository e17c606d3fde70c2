"""audits"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "audit_runs",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("card", sa.JSON(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("begun_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("digest", name="pk_audit_runs"),
    )
    op.create_table(
        "audit_queries",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("query_id", sa.Text(), nullable=False),
        sa.Column("rankings", sa.LargeBinary(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("digest", "position", name="pk_audit_queries"),
        sa.ForeignKeyConstraint(["digest"], ["audit_runs.digest"], name="fk_audit_queries_digest",
                                ondelete="CASCADE"),
    )


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the update")
