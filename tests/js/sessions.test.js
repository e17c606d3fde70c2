// Answers about sessions: which question comes next, and what is missing.
import assert from "node:assert/strict";
import test from "node:test";
import { asked, following, missing, neighbour, rate, same, start, undone, unrated } from "../../assets/js/annotate/sessions/answer.js";

const PAGE = { questions: ["one", "two", "three"].map((key) => ({ key, title: key })), points: [1, 2, 3, 4, 5], note_limit: 10 };
const all = (...ratings) => start(PAGE, { ratings: Object.fromEntries(PAGE.questions.map(({ key }, place) => [key, ratings[place]])) });

test("an answer begins without ratings, and keeps those it has", () => {
  assert.deepEqual(start(PAGE), { ratings: { one: null, two: null, three: null }, reason: "" });
  assert.deepEqual(start(PAGE, { ratings: { two: 3, other: 4 } }).ratings, { one: null, two: 3, three: null });
  assert.equal(unrated(PAGE, start(PAGE, { ratings: { one: 3 } })), "two");
});

test("behind the last question comes the first without a rating, then nothing", () => {
  const some = rate(start(PAGE), "three", 4);
  assert.equal(following(PAGE, rate(start(PAGE), "one", 4), "one"), "two");
  assert.equal(following(PAGE, some, "three"), "one");
  assert.equal(following(PAGE, all(1, 2, 3), "three"), "three");
  assert.deepEqual([neighbour(PAGE, "one", -1), neighbour(PAGE, "two", -1), neighbour(PAGE, "three", 1)], [undefined, "one", undefined]);
});

test("what is missing is said at its question; the reason only has a limit", () => {
  assert.equal(missing(PAGE, all(1, null, null))?.at, "two");
  assert.equal(missing(PAGE, all(1, 2, 3)), null);
  assert.equal(missing(PAGE, { ...all(1, 2, 3), reason: "🙂".repeat(11) })?.at, "reason");
  assert.equal(missing(PAGE, { ...all(1, 2, 3), reason: "🙂".repeat(10) }), null);
});

test("the same answer, whatever its order and the blanks at the end of its reason", () => {
  const one = { ratings: { two: 2, one: 1, three: 3 }, reason: "so \n" }, other = { ...all(1, 2, 3), reason: "so" };
  assert.ok(same(PAGE, one, other) && same(PAGE, {}, start(PAGE)) && same(PAGE, null, {}));
  assert.ok(!same(PAGE, one, all(1, 2, 3)) && !same(PAGE, one, { ...other, ratings: { one: 2 } }));
});

test("undo brings the ratings back, and the reason only where there is none", () => {
  assert.deepEqual(undone({ ...all(1, 2, 3), reason: "old" }, { ...start(PAGE), reason: "" }), { ...all(1, 2, 3), reason: "old" });
  assert.equal(undone({ ...all(1, 2, 3), reason: "old" }, { ...start(PAGE), reason: "typed meanwhile" }).reason, "typed meanwhile");
});

const OWN = { questions: [{ key: "helpful" }, { key: "repair", show_if: { helpful: [1, 2] } }, { key: "again" }], points: [1, 2, 3, 4, 5, 6, 7], note_limit: 10,
  impossible: [{ when: { helpful: [1], again: [7] }, says: "Change one of the two." }] };
const own = (helpful, repair, again) => start(OWN, { ratings: { helpful, repair, again } });

test("a question is asked only after the ratings that it names, and has no rating otherwise", () => {
  const keys = (answer) => asked(OWN, answer.ratings).map(({ key }) => key);
  assert.deepEqual([keys(start(OWN)), keys(own(2)), keys(own(3))], [["helpful", "again"], ["helpful", "repair", "again"], ["helpful", "again"]]);
  assert.deepEqual(own(3, 4, 5).ratings, { helpful: 3, repair: null, again: 5 });
  assert.equal(following(OWN, own(2), "helpful"), "repair");
  assert.equal(following(OWN, own(3), "helpful"), "again");
  assert.deepEqual([missing(OWN, own(3, null, 5)), missing(OWN, own(2, null, 5))?.text], [null, "No answer yet: choose 1 to 7."]);
});

test("ratings that exclude each other are said at the last of them", () => {
  assert.deepEqual(missing(OWN, own(1, 1, 7)), { at: "again", text: "Change one of the two." });
  assert.equal(missing(OWN, own(1, 1, 6)), null);
});
