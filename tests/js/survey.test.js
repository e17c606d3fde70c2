// Answers to "which of the two sets is better?".
import assert from "node:assert/strict";
import test from "node:test";
import { doubt, flip, missing, placeOf, prefer, rate, same, settled, start, unrated } from "../../assets/js/annotate/survey/answer.js";

const PAGE = { set_names: ["Set A", "Set B"], allow_tie: false, reason_limit: 8, form_size: 10, questions: { preferred: "Which set is better?" } };
const rated = (a, b) => rate(rate(start(), "A", a), "B", b);

test("nothing has a default", () => {
  assert.deepEqual(settled(start()), { ratings: { A: null, B: null }, preferred: null, irrelevant: {}, reason: "", confirmed: false });
});

test("the set to rate next", () => {
  assert.equal(unrated(start()), "A");
  assert.equal(unrated(rate(start(), "A", 3)), "B");
  assert.equal(unrated(rate(start(), "B", 3)), "A");
  assert.equal(unrated(rated(1, 2)), null);
});

test("what was confirmed is no longer, once a rating or the preference changes", () => {
  const confirmed = { ...prefer(rated(4, 2), "B"), confirmed: true };
  assert.equal(rate(confirmed, "A", 5).confirmed, false);
  assert.equal(prefer(confirmed, "A").confirmed, false);
  assert.equal(flip(confirmed, "image").confirmed, true);
  assert.ok(same(confirmed, { ...confirmed, confirmed: false }));
  assert.ok(!same(confirmed, flip(confirmed, "text")));
});

test("what is missing, in the order of the screen", () => {
  const at = (answer, asks = false) => missing(answer, PAGE, asks)?.at ?? null;
  assert.equal(at(start()), "A");
  assert.equal(at(rate(start(), "A", 1)), "B");
  assert.equal(at(rated(1, 2)), "preferred");
  const done = prefer(rated(1, 2), "B");
  assert.equal(at(done), null);
  assert.equal(at(done, true), "reason");
  assert.equal(at({ ...done, reason: " \n" }, true), "reason");
  assert.equal(at({ ...done, reason: "123456789" }), "reason");
  assert.doesNotMatch(missing(rated(1, 2), PAGE, false).text, /equally/);
  assert.match(missing(rated(1, 2), { ...PAGE, allow_tie: true }, false).text, /equally/);
});

test("a preference for the set with the lower rating is doubted", () => {
  assert.match(doubt(prefer(rated(4, 2), "B"), PAGE), /^Set A has the higher score, and you prefer Set B/);
  assert.match(doubt(prefer(rated(2, 4), "A"), PAGE), /^Set B has the higher score/);
  for (const answer of [prefer(rated(4, 2), "A"), prefer(rated(3, 3), "B"), prefer(rated(5, 1), "tie"), rated(5, 1)]) assert.equal(doubt(answer, PAGE), null);
});

test("where one is: forms of ten, the last one what is left", () => {
  const place = (number, form) => placeOf({ number, of: 25, form, forms: 3 }, PAGE);
  assert.equal(place(7, 1), "Question 7 of 10 · form 1 of 3");
  assert.equal(place(11, 2), "Question 1 of 10 · form 2 of 3");
  assert.equal(place(25, 3), "Question 5 of 5 · form 3 of 3");
  assert.equal(placeOf({ number: 3, of: 6, form: 1, forms: 1 }, { form_size: 0 }), "Question 3 of 6");
});
