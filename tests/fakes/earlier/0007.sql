-- With schema 0007 came wrong passwords.
INSERT INTO wrong_tries (key, tries, last_at) VALUES ('00ff', 3, '2026-01-02 03:04:05.678901');
