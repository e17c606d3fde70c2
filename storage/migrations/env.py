"""Runs the migrations on the connection that ``storage.migrations.run`` opened, in its transaction.

It leaves logging alone: that belongs to the app. A new migration is written with
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
