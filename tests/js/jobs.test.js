// The page Jobs: how far a job is, and why it does not run, in words.
import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.js";
const { byWhom, howFar, problemOf } = await import("../../assets/js/jobs/words.js");

/** @type {Job} */
const JOB = { id: "abcdefgh", kind: "Indexing", command: "cirque index", by: "Ada", screen: false, state: "running", stopping: false, stage: "Indexing mine", done: 120, total: 300, rate: 2.5,
  left: "1 to 2 min", error: "", began: "2026-05-01T10:00:00+00:00", alive: "2026-05-01T10:00:00+00:00", resumable: false, resumes: true, log: null };

test("a running job says what it does, how far, how fast, and how long still", () => {
  assert.equal(howFar(JOB), "Indexing mine · 120 of 300 · 40 % · 2.5 a second · 1 to 2 min left");
  assert.equal(howFar({ ...JOB, stage: "", done: 0, total: 0, rate: null, left: "" }), "Starting");
  assert.equal(howFar({ ...JOB, done: 7, total: 0, rate: 0.1, left: "" }), "Indexing mine · 7 · 6.0 a minute");
});

test("one that is over says what it came to", () => {
  assert.equal(howFar({ ...JOB, state: "stopped", rate: null, left: "" }), "Indexing mine · 120 of 300 · 40 %");
  assert.equal(howFar({ ...JOB, state: "done", done: 300, rate: null, left: "" }), "300 of 300 · 100 %");
});

test("why it does not run: its error, or that it was killed", () => {
  assert.equal(problemOf({ ...JOB, state: "failed", error: "The disk is full." }), "The disk is full.");
  assert.match(problemOf({ ...JOB, state: "interrupted" }), /killed.*are kept\.$/);
  assert.doesNotMatch(problemOf({ ...JOB, state: "interrupted", resumes: false }), /kept/);
  assert.equal(byWhom({ ...JOB }), "by Ada on the command line");
  assert.equal(byWhom({ ...JOB, screen: true }), "by Ada");
});
