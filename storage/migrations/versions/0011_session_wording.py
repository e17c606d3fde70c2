"""session studies keep the wording they were made with

The questions circled/1 have the paper's own words from here on. Studies made before were answered in cirque's wording,
which is circled-reworded/1 now.
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_PAPER, _REWORDED = "circled/1", "circled-reworded/1"


def upgrade() -> None:
    connection = op.get_bind()
    for name in ("studies", "judgements"):
        table = sa.table(name, sa.column("protocol", sa.Text))
        connection.execute(table.update().values(protocol=_REWORDED).where(table.c.protocol == _PAPER))


def downgrade() -> None:
    raise NotImplementedError("restore the backup that was made before the update")
