// Answers to "is this query valid?": what each press makes of one, and what is missing.
import assert from "node:assert/strict";
import test from "node:test";
import * as answers from "../../assets/js/annotate/validity/answer.js";

const flag = (key, code, severity, letters = "") => ({ key, code, name: code.toLowerCase(), severity,
  reasons: [...letters].map((letter) => ({ key: letter, code: `${key}${letter}`, name: letter, needs_note: letter === "c" })) });
const RUBRIC = { flags: [flag("1", "VAGUE", 2, "abc"), flag("2", "WRONG", 1), flag("3", "BROAD", 3, "ab")],
  valid: { key: "5", code: "VALID", name: "valid" }, note_limit: 10 };
const { flipFlag, flipReason, flipUnsure, flipValid, missing, primary, same, settled, start } = answers;

test("a reason sets its flag, and goes with it", () => {
  const on = flipReason(start(), RUBRIC, "1b");
  assert.deepEqual([on.flags, on.reasons, on.validated], [["VAGUE"], ["1b"], false]);
  const both = flipReason(on, RUBRIC, "3a");
  const off = flipFlag(both, RUBRIC, "VAGUE");
  assert.deepEqual([off.flags, off.reasons, off.validated], [["BROAD"], ["3a"], false]);
  assert.equal(flipFlag(off, RUBRIC, "BROAD").validated, null);
});

test("valid excludes flags and being unsure", () => {
  const valid = flipValid(flipUnsure(flipReason(start(), RUBRIC, "1b")));
  assert.deepEqual([valid.validated, valid.flags, valid.reasons, valid.unsure], [true, [], [], false]);
  assert.equal(flipFlag(valid, RUBRIC, "WRONG").validated, false);
  assert.equal(flipValid(valid).validated, null);
});

test("an answer is settled in the server's order, without a verdict while unsure", () => {
  const answer = { ...start(), flags: ["BROAD", "VAGUE", "WRONG"], reasons: ["3a", "1b"], validated: null };
  assert.deepEqual([settled(answer, RUBRIC).flags, settled(answer, RUBRIC).reasons], [["WRONG", "VAGUE", "BROAD"], ["1b", "3a"]]);
  assert.equal(settled(answer, RUBRIC).validated, false);
  assert.equal(settled({ ...answer, unsure: true }, RUBRIC).validated, null);
  assert.equal(settled(start(), RUBRIC).validated, null);
});

test("the same answer, whatever its order, blanks at the end of its note, and what was looked at", () => {
  const one = { flags: ["VAGUE", "WRONG"], note: "so", panel_opened: true }, other = { flags: ["WRONG", "VAGUE"], note: "so \n" };
  assert.ok(same(one, other, RUBRIC));
  assert.ok(!same(one, { ...other, note: "no" }, RUBRIC));
  assert.ok(answers.blank(start({ panel_opened: true }), RUBRIC));
});

test("what is missing is said where it is missing", () => {
  const at = (answer) => missing(start(answer), RUBRIC)?.at ?? null;
  assert.equal(at({}), "flags");
  assert.equal(at({ validated: true }), null);
  assert.equal(at({ unsure: true }), null);
  assert.equal(at({ flags: ["WRONG"] }), null); // it has no reasons
  assert.equal(at({ flags: ["VAGUE"] }), "VAGUE");
  assert.equal(at({ flags: ["VAGUE"], reasons: ["1a"] }), null);
  assert.equal(at({ flags: ["VAGUE"], reasons: ["1c"] }), "note");
  assert.equal(at({ flags: ["VAGUE"], reasons: ["1c"], note: "why" }), null);
  assert.equal(at({ validated: true, note: "👩".repeat(10) }), null); // letters, not units
  assert.equal(at({ unsure: true, note: "👩".repeat(11) }), "note");
  assert.equal(missing(start({ flags: ["VAGUE"] }), RUBRIC).text, "Give a reason: a, b or c.");
});

test("the category that counts is the most severe", () => {
  const code = (answer) => primary(start(answer), RUBRIC)?.code ?? null;
  assert.equal(code({}), null);
  assert.equal(code({ flags: ["BROAD", "WRONG"] }), "WRONG");
  assert.equal(code({ flags: ["WRONG"], unsure: true }), "UNSURE");
  assert.equal(code({ validated: true }), "VALIDATED");
});

const OWN = { flags: [flag("1", "TWO", 2, "ab"), { ...flag("2", "OTHER", 1), show_if: { TWO: true } }], valid: { key: "9", code: "VALIDATED", name: "fine" }, note_limit: 10,
  impossible: [{ when: { "1b": true, OTHER: true }, says: "Remove one of them." }] };

test("a flag is asked only beside those that it names, and goes with them", () => {
  const { asked, pruned } = answers;
  assert.deepEqual([asked(OWN, []), asked(OWN, ["TWO"])].map((flags) => flags.map(({ code }) => code)), [["TWO"], ["TWO", "OTHER"]]);
  assert.deepEqual(pruned({ ...start(), flags: ["OTHER"] }, OWN).flags, []);
  const both = { ...start(), flags: ["TWO", "OTHER"], reasons: ["1a"], validated: false };
  assert.deepEqual([pruned(both, OWN), missing(both, OWN)], [both, null]);
  assert.deepEqual(missing({ ...both, reasons: ["1b"] }, OWN), { at: "OTHER", text: "Remove one of them." });
});
