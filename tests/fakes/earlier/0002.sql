-- With schema 0002 came compositions of turns (base (1, 0), one term (0.6, 0.8)), answers of language models,
-- comparisons and votes on them.
INSERT INTO turns (turn_id, session_id, branch_id, parent_id, number, seq, reference_id, modification_text, caption,
  merged_text, notes, vector, hits, hit_numbers, excluded_ids, target_rank, timings_ms, protocol_digest, created_at,
  composition, composition_vectors)
VALUES ('t3', 's', 'r', 't2', 3, 3, 'a', 'longer', 'a blue chair', 'a longer chair', '[]', X'9a99193fcdcc4c3f',
  '{"ids":["a","b"],"ranks":[1,2],"labels":[["text"]],"which":[0,0]}', X'666666666666e63f9a9999999999b93f666666666666e63f9a9999999999b93f', '[]', NULL,
  '{}', '00ff00ff00ff00ff', '2026-01-02 03:04:05.678901',
  '{"terms":["text"],"rounds":[],"marks":{"more_like":[],"less_like":["b"]},"constraints":null,"soft_filter":null,
  "usage":{"calls":1,"cached":0,"prompt_tokens":9,"completion_tokens":4,"cost":null,"models":["rules"]}}',
  X'0000803f000000009a99193fcdcc4c3f');

INSERT INTO answers (key, model, role, prompt_version, answer, prompt_tokens, completion_tokens, created_at)
VALUES ('00aa', 'small/1', 'caption', '3', '{"caption":"a chair"}', 900, 61, '2026-01-02 03:04:05.678901');

INSERT INTO comparisons (comparison_id, gallery, reference_id, modification_text, session_id, parent_id, blind, seed,
  created_at)
VALUES ('c', 'atelier', 'a', 'in red', 's', NULL, TRUE, 9007199254740993, '2026-01-02 03:04:05.678901');

INSERT INTO comparison_columns (comparison_id, position, method, protocol, protocol_digest, caption, merged_text, notes,
  hits, hit_numbers, timings_ms, composition, composition_vectors, problem)
VALUES ('c', 0, 'soft', '{"gallery":"atelier","gallery_size":240,"gallery_digest":"0123456789abcdef","split":"all",
  "encoder":{"spec":"atelier","revision":"fedcba9876543210","dim":2},"language_model":"rules",
  "method":{"base":"cirevl","alpha":0.1,"beta":0.29,"gamma":0.44,"feedback_depth":10,"exclude":"history","soft_filter":{"weight":0.5,"mode":"reward"}},
  "caption_mode":"single","tie_rule":"score, then gallery order","seed":null,"version":"0.1","digest":"00ff00ff00ff00ff",
  "scope":"whole gallery","max_turns":null,"captions":""}',
  '00ff00ff00ff00ff', 'a blue chair', 'a red chair', '[]',
  '{"ids":["a","b"],"ranks":[1,2],"labels":[["text"]],"which":[0,0]}', X'666666666666e63f9a9999999999b93f666666666666e63f9a9999999999b93f', '{"search":2.5}', NULL, NULL, '');

INSERT INTO comparison_columns (comparison_id, position, method, protocol, protocol_digest, caption, merged_text, notes,
  hits, hit_numbers, timings_ms, composition, composition_vectors, problem)
VALUES ('c', 1, 'slerp', '{"gallery":"atelier","gallery_size":240,"gallery_digest":"0123456789abcdef","split":"all",
  "encoder":{"spec":"atelier","revision":"fedcba9876543210","dim":2},"language_model":"rules",
  "method":{"base":"cirevl","alpha":0.1,"beta":0.29,"gamma":0.44,"feedback_depth":10,"exclude":"history"},
  "caption_mode":"single","tie_rule":"score, then gallery order","seed":null,"version":"0.1","digest":"00ff00ff00ff00ff",
  "scope":"whole gallery","max_turns":null,"captions":""}',
  '00ff00ff00ff00ff', '', '', '[]', '{"ids":[],"ranks":[],"labels":[],"which":[]}', X'', '{}', NULL, NULL,
  'The model was away.');

INSERT INTO method_votes (vote_id, comparison_id, annotator, shown, chosen, blind, seconds, created_at)
VALUES ('v', 'c', 'Ann', '["soft","slerp"]', 'soft', TRUE, 4.25, '2026-01-02 03:04:05.678901');
