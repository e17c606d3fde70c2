-- With schema 0012 came participants without accounts, by the link of a study.
INSERT INTO recruitments (study_id, token, secret, settings)
VALUES ('st', 'linktoken', 'linksecret', '{"open":true,"consent":"I agree.","minutes":90}');

INSERT INTO participants (study_id, participant_id, annotator, site, state, answers, consent, entered_at, seated_at,
  finished_at, code, payment, reason)
VALUES ('st', '5f3a9c', 'P-0123456789', '{"SESSION_ID":"s1"}', 'finished', '{"age":"18 or older"}', 'I agree.',
  '2026-01-02 03:04:05.678901', '2026-01-02 03:05:05.678901', '2026-01-02 03:25:05.678901', 'C0DE', 'rejected', 'too fast');
