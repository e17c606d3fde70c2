-- With schema 0013 came items whose right answer is known.
INSERT INTO gold_items (item_id, study_id, role, answer, note, created_by, created_at)
SELECT item_id, study_id, 'training', '{"ratings":[4,2],"preferred":1}', 'the sleeves', 'Ada', '2026-01-02 03:04:05.678901'
FROM study_items WHERE study_id = 'st';
