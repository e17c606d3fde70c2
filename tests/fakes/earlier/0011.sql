-- With schema 0011 came the questions about sessions in the paper's words; studies made before keep the wording of theirs.
INSERT INTO studies (study_id, name_key, name, kind, protocol, plan, accepting, settings, source, created_by, created_at)
VALUES ('st11', 'rated', 'Rated', 'sessions', 'circled-reworded/1',
  '{"seats":1,"overlap":1,"agreement_items":0,"seed":7,"lease_hours":24.0}', TRUE, '{}', '{"from":"tests"}', 'local',
  '2026-01-02 03:04:05.678901');
