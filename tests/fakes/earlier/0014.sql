-- With schema 0014 came adjudicators' own answers, and discussions.
INSERT INTO first_answers (item_id, adjudicator_key, study_id, adjudicator, answer, created_at)
SELECT item_id, 'olga', 'st', 'Olga', '{"ratings":[4,2],"preferred":1}', '2026-01-02 03:04:05.678901'
FROM study_items WHERE study_id = 'st';

INSERT INTO messages (message_id, study_id, item_id, number, author, role, token, text, created_at)
SELECT 'm' || item_id, 'st', item_id, 1, 'Olga', 'adjudicator', 'token-01', 'the sleeves?', '2026-01-02 03:04:05.678901'
FROM study_items WHERE study_id = 'st';
