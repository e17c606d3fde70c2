-- With schema 0015 came messages to webhooks.
INSERT INTO webhook_calls (call_id, study_id, event, participant_id, created_at, attempts, next_at, delivered_at, problem)
SELECT 'call-1', 'st', 'finished', '5f3a9c', '2026-01-02 03:04:05.678901', 2, NULL, '2026-01-02 03:05:05.678901', '';
