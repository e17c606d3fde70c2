"""Delete a whole study."""

from __future__ import annotations

from sqlalchemy import Connection, delete, select

from annotation.records import AuditEvent
from storage.accounts.audit_log import log_event
from storage.mapping import tables
from storage.studies.lookups import find_study

_seat = tables.study_seats.c
# What points at something comes before it: nothing that people judged goes by a cascade.
_IN_ORDER = (tables.study_scores, tables.decisions, tables.judgements, tables.study_events, tables.drafts,
             tables.assignments, tables.study_seats, tables.study_items, tables.study_images, tables.studies)


def remove_study(connection: Connection, study_id: str, by: str) -> None:
    """Delete a study, in a write transaction; its entries in the audit log stay. Raises ``UnknownStudy``, as does a
    later answer."""
    study = find_study(connection, study_id, lock=True)
    # Whoever is just saving has locked their seat.
    connection.execute(select(_seat.number).where(_seat.study_id == study_id).order_by(_seat.number)
                       .with_for_update()).all()
    for table in _IN_ORDER:
        connection.execute(delete(table).where(table.c.study_id == study_id))
    log_event(connection, AuditEvent("study.removed", by, study.name, study_id, {"kind": study.kind}))
