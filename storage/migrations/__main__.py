"""Generate the next migration from the changes of ``tables.py``, to be reviewed and corrected by hand."""

import sys
import tempfile

from alembic import command
from alembic.script import ScriptDirectory

from storage.engine.database import open_database, reading
from storage.engine.revisions import migration_config
from storage.migrations.run import migrate

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit('usage: python -m storage.migrations "what it does"')
    with tempfile.TemporaryDirectory() as folder:
        engine = open_database(f"sqlite:///{folder}/blank.db")
        migrate(engine)
        config = migration_config()
        number = len(list(ScriptDirectory.from_config(config).walk_revisions())) + 1
        with reading(engine) as connection:
            config.attributes["connection"] = connection
            command.revision(config, message=sys.argv[1], autogenerate=True, rev_id=f"{number:04}")
        engine.dispose()
