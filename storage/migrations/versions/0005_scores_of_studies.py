"""scores of studies"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "study_scores",
        sa.Column("score_id", sa.String(64), nullable=False),
        sa.Column("study_id", sa.String(64), nullable=False),
        sa.Column("name_key", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("notes", sa.JSON(), nullable=False),
        sa.Column("scores", sa.JSON(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["studies.study_id"], name="fk_study_scores_study_id",
                                ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("score_id", name="pk_study_scores"),
        sa.UniqueConstraint("study_id", "name_key", name="uq_study_scores_study_id_name_key"),
    )


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the update")
