-- With schema 0009 came thumbs on results.
INSERT INTO thumbs (turn_id, image_id, person, up, created_at)
VALUES ('t1', 'a', 'Ann', TRUE, '2026-01-02 03:04:05.678901');
