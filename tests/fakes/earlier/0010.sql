-- With schema 0010 came the account that began a session, and sessions and branches that a person took off the screen.
INSERT INTO sessions (session_id, gallery, method, protocol, protocol_digest, target_id, target_live, target_revealed,
  title, created_at, updated_at, owner, removed_at)
SELECT 's-ann', gallery, method, protocol, protocol_digest, target_id, target_live, target_revealed,
  title, created_at, updated_at, 'Ann', '2026-01-03 03:04:05.678901' FROM sessions WHERE session_id = 's';

INSERT INTO branches (branch_id, session_id, number, name, removed_at)
VALUES ('r2', 's', 2, 'gone', '2026-01-03 03:04:05.678901');
