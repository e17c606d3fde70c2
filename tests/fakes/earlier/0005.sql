-- With schema 0005 came scores of metrics.
INSERT INTO study_scores (score_id, study_id, name_key, name, description, notes, scores, created_by, created_at)
VALUES ('sc', 'st', 'cosine, mine', 'Cosine, mine', 'made by hand', '["a note"]', '{"i0":[0.25,null]}', 'local', '2026-01-02 03:04:05.678901');
