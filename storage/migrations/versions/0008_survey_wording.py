"""preference studies keep the wording they were made with

The survey hs-fashioniq/1 has the paper's own words from here on. Studies made before were answered in cirque's wording,
which is the survey hs-fashioniq-reworded/1 now. Imported answers of the released file were given in the paper's words.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_PAPER, _REWORDED = "hs-fashioniq/1", "hs-fashioniq-reworded/1"
_IMPORTED = "hp-fashioniq-answers"   # the form of an imported released file


def upgrade() -> None:
    studies = sa.table("studies", sa.column("study_id", sa.String), sa.column("protocol", sa.Text),
                       sa.column("source", sa.JSON))
    judgements = sa.table("judgements", sa.column("study_id", sa.String), sa.column("protocol", sa.Text))
    connection = op.get_bind()
    made = connection.execute(sa.select(studies.c.study_id, studies.c.source).where(studies.c.protocol == _PAPER)).all()
    for study_id, source in made:
        if (source or {}).get("form") == _IMPORTED:
            continue
        for table in (studies, judgements):
            connection.execute(table.update().values(protocol=_REWORDED)
                               .where(table.c.study_id == study_id, table.c.protocol == _PAPER))


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the update")
