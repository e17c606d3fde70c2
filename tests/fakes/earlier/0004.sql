-- With schema 0004 came people and studies: a study of two items and two seats. Ann has answered both, one of them
-- twice and one without being sure; Bo has begun one, and somebody decided on the other.
INSERT INTO people (name_key, name, role, password_hash, active, created_at)
VALUES ('ann', 'Ann', 'annotator', '$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNo', TRUE, '2026-01-02 03:04:05.678901');

INSERT INTO sign_ins (digest, name_key, created_at, expires_at)
VALUES ('5e', 'ann', '2026-01-02 03:04:05.678901', '2099-01-02 03:04:05');

INSERT INTO invitations (digest, role, uses_left, created_by, created_at, expires_at)
VALUES ('1f', 'annotator', 3, 'local', '2026-01-02 03:04:05.678901', '2099-01-02 03:04:05');

INSERT INTO studies (study_id, name_key, name, kind, protocol, plan, accepting, settings, source, created_by, created_at)
VALUES ('st', 'fräcke 🐕', 'Fräcke 🐕', 'preference', 'hs-fashioniq/1',
  '{"seats":2,"overlap":2,"agreement_items":0,"seed":7,"lease_hours":24.0}', TRUE, '{"unsure_after":120}',
  '{"from":"tests"}', 'local', '2026-01-02 03:04:05.678901');

INSERT INTO study_images (study_id, token, image_id, width, height) VALUES ('st', 'tok', 'image', 30, 40);

INSERT INTO study_items (item_id, study_id, number, key, stratum, in_block, shown, hidden)
VALUES ('i0', 'st', 0, 'k0', 'a', FALSE, '{"text":"text 0"}', '{"systems":["x","y"]}');

INSERT INTO study_items (item_id, study_id, number, key, stratum, in_block, shown, hidden)
VALUES ('i1', 'st', 1, 'k1', 'b', FALSE, '{"text":"text 1"}', '{}');

INSERT INTO study_seats (study_id, number, annotator_key, annotator, joined_at, seen_at, released, total, done, unsure)
VALUES ('st', 1, 'ann', 'Ann', '2026-01-02 03:04:05.678901', '2026-01-02 03:04:05.678901', FALSE, 2, 2, 1);

INSERT INTO study_seats (study_id, number, annotator_key, annotator, joined_at, seen_at, released, total, done, unsure)
VALUES ('st', 2, 'bo', 'Bo', '2026-01-02 03:04:05.678901', '2026-01-02 03:04:05.678901', FALSE, 1, 0, 0);

INSERT INTO assignments (item_id, seat, study_id, position, state, extra, lasting)
VALUES ('i0', 1, 'st', 0, 'done', '{"first":2}', '["panel_opened"]');

INSERT INTO assignments (item_id, seat, study_id, position, state, extra, lasting)
VALUES ('i1', 1, 'st', 1, 'unsure', NULL, NULL);

INSERT INTO assignments (item_id, seat, study_id, position, state, extra, lasting)
VALUES ('i0', 2, 'st', 0, 'open', NULL, NULL);

INSERT INTO assignments (item_id, seat, study_id, position, state, extra, lasting)
VALUES ('i1', 2, 'st', 1, 'handed_on', NULL, NULL);

INSERT INTO judgements (judgement_id, study_id, item_id, seat, annotator, revision, current, token, protocol, answer,
  seconds, created_at, extra)
VALUES ('j1', 'st', 'i0', 1, 'Ann', 1, FALSE, 'tok1', 'hs-fashioniq/1', '{"preferred":1}', 4.5, '2026-01-02 03:04:05.678901', '{}');

INSERT INTO judgements (judgement_id, study_id, item_id, seat, annotator, revision, current, token, protocol, answer,
  seconds, created_at, extra)
VALUES ('j2', 'st', 'i0', 1, 'Ann', 2, TRUE, 'tok2', 'hs-fashioniq/1', '{"preferred":2}', 2.25, '2026-01-02 03:04:05.678901', '{}');

INSERT INTO judgements (judgement_id, study_id, item_id, seat, annotator, revision, current, token, protocol, answer,
  seconds, created_at, extra)
VALUES ('j3', 'st', 'i1', 1, 'Ann', 1, TRUE, 'tok1', 'hs-fashioniq/1', '{"unsure":true}', 9, '2026-01-02 03:04:05.678901', '{}');

INSERT INTO drafts (item_id, seat, study_id, annotator, answer, seconds, updated_at)
VALUES ('i0', 2, 'st', 'Bo', '{"note":"begun"}', 2, '2026-01-02 03:04:05.678901');

INSERT INTO study_events (event_id, study_id, seat, number, annotator, kind, token, payload, created_at)
VALUES ('e1', 'st', 1, 1, 'Ann', 'consent', 'tok1', '{"text":"I agree."}', '2026-01-02 03:04:05.678901');

INSERT INTO decisions (decision_id, study_id, item_id, adjudicator, revision, current, token, answer, reason, created_at)
VALUES ('d1', 'st', 'i1', 'Ada', 1, TRUE, 'tok1', '{"preferred":1}', 'because', '2026-01-02 03:04:05.678901');
