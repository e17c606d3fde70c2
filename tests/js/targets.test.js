// Answers about a query's images: what comes next, what is missing, and where arrows lead.
import assert from "node:assert/strict";
import test from "node:test";
import { mark, markRest, missing, neighbour, same, start, tally, undone, unmarked } from "../../assets/js/annotate/targets/answer.js";

const PAGE = { choices: ["yes", "no", "unsure"].map((mark) => ({ mark, name: mark })), note_limit: 10 }, TOKENS = ["a", "b", "c"];
const of = (...marks) => start({ marks: Object.fromEntries(TOKENS.map((token, place) => [token, marks[place]])) });

test("an answer begins without marks, and drops those that a draft has as null", () => {
  assert.deepEqual(start(), { marks: {}, note: "" });
  assert.deepEqual(start({ marks: { a: "yes", b: null }, note: "so" }), { marks: { a: "yes" }, note: "so" });
});

test("behind the last image comes the first without a mark, then nothing", () => {
  assert.equal(unmarked(of(), TOKENS), 0);
  assert.equal(unmarked(mark(start(), "b", "no"), TOKENS, 1), 2);
  assert.equal(unmarked(of("yes", undefined, "no"), TOKENS, 2), 1);
  assert.equal(unmarked(of("yes", "no", "no"), TOKENS, 0), -1);
});

test("the rest is marked, and what has a mark keeps it", () => {
  assert.deepEqual(markRest(of("yes"), TOKENS, "no").marks, { a: "yes", b: "no", c: "no" });
  assert.deepEqual(tally(of("yes", "yes"), TOKENS), { yes: 2, "": 1 });
});

test("what is missing is said at its image; the note only has a limit", () => {
  assert.deepEqual(missing(PAGE, of("yes"), TOKENS), { at: "b", text: "2 images have no mark yet: yes, no or unsure." });
  assert.match(missing(PAGE, of("yes", "no"), TOKENS).text, /^One image has/);
  assert.equal(missing(PAGE, of("yes", "no", "unsure"), TOKENS), null);
  assert.equal(missing(PAGE, { ...of("yes", "no", "no"), note: "🙂".repeat(11) }, TOKENS)?.at, "note");
  assert.equal(missing(PAGE, { ...of("yes", "no", "no"), note: "🙂".repeat(10) }, TOKENS), null);
});

test("the same answer, whatever its order, its nulls and the blanks at the end of its note", () => {
  const one = { marks: { b: "no", a: "yes", c: null }, note: "so \n" };
  assert.ok(same(one, { marks: { a: "yes", b: "no" }, note: "so" }) && same({}, start()) && same(null, {}));
  assert.ok(!same(one, of("yes", "no")) && !same(of("yes"), of("no")));
});

test("undo brings the marks back, and the note only where there is none", () => {
  assert.deepEqual(undone({ ...of("yes"), note: "old" }, start()), { ...of("yes"), note: "old" });
  assert.equal(undone({ ...of("yes"), note: "old" }, { ...start(), note: "typed meanwhile" }).note, "typed meanwhile");
});

test("arrows lead through the grid and stop at its edges", () => {
  assert.deepEqual(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"].map((key) => neighbour(4, key, 3, 8)), [3, 5, 1, 7]);
  assert.deepEqual(["ArrowLeft", "ArrowUp"].map((key) => neighbour(0, key, 3, 8)), [0, 0]);
  assert.deepEqual(["ArrowRight", "ArrowDown"].map((key) => neighbour(7, key, 3, 8)), [7, 7]);
});
