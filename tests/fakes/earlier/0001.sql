-- What cirque wrote when its schema was 0001: cards without captions, methods without stages. Vectors are float32 and
-- the numbers of hits float64, both little-endian: (0.6, 0.8), and the scores 0.7 and 0.1 with their one part each.
INSERT INTO sessions (session_id, gallery, method, protocol, protocol_digest, target_id, target_live, target_revealed,
  title, created_at, updated_at)
VALUES ('s', 'atelier', '{"base":"cirevl","alpha":0.1,"beta":0.29,"gamma":0.44,"feedback_depth":10,"exclude":"history"}', '{"gallery":"atelier","gallery_size":240,"gallery_digest":"0123456789abcdef","split":"all",
  "encoder":{"spec":"atelier","revision":"fedcba9876543210","dim":2},"language_model":"rules",
  "method":{"base":"cirevl","alpha":0.1,"beta":0.29,"gamma":0.44,"feedback_depth":10,"exclude":"history"},
  "caption_mode":"single","tie_rule":"score, then gallery order","seed":null,"version":"0.1","digest":"00ff00ff00ff00ff",
  "scope":"whole gallery","max_turns":null}',
  '00ff00ff00ff00ff', 'b', FALSE, TRUE, 'Chairs 🪑', '2026-01-02 03:04:05.678901', '2026-01-02 03:04:05.678901');

INSERT INTO branches (branch_id, session_id, number, name) VALUES ('r', 's', 1, '');

INSERT INTO turns (turn_id, session_id, branch_id, parent_id, number, seq, reference_id, modification_text, caption,
  merged_text, notes, vector, hits, hit_numbers, excluded_ids, target_rank, timings_ms, protocol_digest, created_at)
VALUES ('t1', 's', 'r', NULL, 1, 1, 'a', 'in red; ''quoted'', 50% longer', 'a blue chair', 'a red chair', '[]', X'9a99193fcdcc4c3f',
  '{"ids":["a","b"],"ranks":[1,2],"labels":[["text"]],"which":[0,0]}', X'666666666666e63f9a9999999999b93f666666666666e63f9a9999999999b93f', '["a"]', 2,
  '{"search":0.1}', '00ff00ff00ff00ff', '2026-01-02 03:04:05.678901');

INSERT INTO turns (turn_id, session_id, branch_id, parent_id, number, seq, reference_id, modification_text, caption,
  merged_text, notes, vector, hits, hit_numbers, excluded_ids, target_rank, timings_ms, protocol_digest, created_at)
VALUES ('t2', 's', 'r', 't1', 2, 2, 'a', 'in red', 'a blue chair', 'a red chair', '["a note"]', X'9a99193fcdcc4c3f',
  '{"ids":["a","b"],"ranks":[1,2],"labels":[["text"]],"which":[0,0]}', X'666666666666e63f9a9999999999b93f666666666666e63f9a9999999999b93f', '["a"]', NULL,
  '{}', '00ff00ff00ff00ff', '2026-01-02 03:04:05.678901');

INSERT INTO uploads (upload_id, width, height, original_name, created_at)
VALUES ('upload:0123', 30, 40, 'Stuhl è.jpg', '2026-01-02 03:04:05.678901');
