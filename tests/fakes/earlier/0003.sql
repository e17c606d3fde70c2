-- With schema 0003 came audits. Rankings are compressed JSON: each variant's ranks and best images, here
-- {"multimodal":[[1,7],["x","y"]],"text_only":[[3,2],["y"]]}.
INSERT INTO audit_runs (digest, card, total, begun_at, finished_at)
VALUES ('cd21e80d0bf1a7db0e182f6dc3e5c95c', '{"dataset":"cirr","dataset_digest":"d1","pools_digest":"p1","retriever":"slerp","identity":{"encoder":"e"},
  "ablation":"empty","instruction":null,"caption_mode":"single","top_k":50,"k":10}', 2, '2026-01-02 03:04:05.678901', NULL);

INSERT INTO audit_queries (digest, position, query_id, rankings, problem)
VALUES ('cd21e80d0bf1a7db0e182f6dc3e5c95c', 0, 'q0', X'789cab56ca2dcd29c9cccd4f49cc51b28a8e36d4318fd58956aa50d251aa548a8dd5512a49ad2889cfcfcba904c91aeb1881644132b5002d8d126e', '');

INSERT INTO audit_queries (digest, position, query_id, rankings, problem)
VALUES ('cd21e80d0bf1a7db0e182f6dc3e5c95c', 1, 'q1', X'789cabae0500017500f9', 'The model was away.');
