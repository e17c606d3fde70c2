"""participants who come by a study's link, without accounts"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "recruitments",
        sa.Column("study_id", sa.String(64), nullable=False),
        sa.Column("token", sa.String(64), nullable=False),
        sa.Column("secret", sa.String(64), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["studies.study_id"], name="fk_recruitments_study_id"),
        sa.PrimaryKeyConstraint("study_id", name="pk_recruitments"),
        sa.UniqueConstraint("token", name="uq_recruitments_token"),
    )
    op.create_table(
        "participants",
        sa.Column("study_id", sa.String(64), nullable=False),
        sa.Column("participant_id", sa.String(100), nullable=False),
        sa.Column("annotator", sa.Text(), nullable=False),
        sa.Column("site", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("answers", sa.JSON(), nullable=False),
        sa.Column("consent", sa.Text(), nullable=False),
        sa.Column("entered_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seated_at", sa.DateTime(timezone=True)),
        sa.Column("finished_at", sa.DateTime(timezone=True)),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("payment", sa.String(16), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["studies.study_id"], name="fk_participants_study_id"),
        sa.PrimaryKeyConstraint("study_id", "participant_id", name="pk_participants"),
        sa.UniqueConstraint("study_id", "annotator", name="uq_participants_study_id_annotator"),
    )


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the update")
