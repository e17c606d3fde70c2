// Screening questions and quotas as lines of text.
import assert from "node:assert/strict";
import test from "node:test";
import { questionLines, questionsOf, quotaLines, quotasOf } from "../../assets/js/studies/screening.js";

test("a line is a question, with stars at the answers that are accepted", () => {
  const lines = "age: How old are you? | under 18 | *18 to 40 | *over 40\ngender: Your gender? | woman | man";
  const questions = questionsOf(`\n${lines}\n`);
  assert.deepEqual(questions, [
    { key: "age", text: "How old are you?", answers: ["under 18", "18 to 40", "over 40"], accepts: ["18 to 40", "over 40"] },
    { key: "gender", text: "Your gender?", answers: ["woman", "man"], accepts: [] }]);
  assert.equal(questionLines(questions), lines);
});

test("a line is a quota of one answer or several", () => {
  const lines = "gender = woman: 20\ngender = man & age = over 40: 5";
  const quotas = quotasOf(lines);
  assert.deepEqual(quotas, [{ where: { gender: "woman" }, most: 20 }, { where: { gender: "man", age: "over 40" }, most: 5 }]);
  assert.equal(quotaLines(quotas), lines);
});

test("what is no such line is named by its number", () => {
  for (const wrong of ["How old? | a | b", "age: How old?", "age: How old? | only one", "age: How old? | a | *", "Age: x | a | b"]) {
    assert.throws(() => questionsOf(`ok: fine? | a | b\n${wrong}`), /line 2/, wrong);
  }
  for (const wrong of ["gender = woman", "gender: 20", "gender = woman: many", "= woman: 2", "a = b = c: 2"]) {
    assert.throws(() => quotasOf(`a = b: 1\n${wrong}`), /line 2/, wrong);
  }
});
