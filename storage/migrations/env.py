"""Alembic environment: runs the migrations on the connection and in the transaction of ``storage.migrations.run``.

Logging is left to the app. Create a new migration with
``python -m storage.migrations "what it does"``.
"""

from alembic import context

from storage.mapping.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite changes a column by copying the table
)
context.run_migrations()
