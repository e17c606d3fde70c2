-- With schema 0006 came the audit log.
INSERT INTO audit_log (at, kind, actor_key, actor, about_key, about, study_id, details)
VALUES ('2026-01-02 03:04:05.678901', 'study.exported', 'ada', 'Ada', '', '', 'st', '{"table":"judgements"}');
