// Judgements on the search screen: what is given is shown at once, kept in order, and taken back where it is not kept.
import assert from "node:assert/strict";
import test from "node:test";
import { createGiven } from "../../assets/js/search/results/given.js";

// A server that answers when it is told to: ``answers`` holds what it does with each call, in the order of the calls.
function played() {
  const sent = [], answers = [], problems = [];
  const given = createGiven((data, value) => new Promise((done, fails) => {
    sent.push([data, value]);
    answers.push({ done, fails: () => fails(new Error("away")) });
  }), (problem) => problems.push(problem.message));
  return { given, sent, answers, problems };
}
const turn = () => new Promise((go) => { setImmediate(go); }); // lets promises that are settled be heard

test("quick presses are sent one after another, and the last one is shown meanwhile", async () => {
  const { given, sent, answers } = played();
  const all = ["up", "down", ""].map((value) => given.give("a", value, "turn 1"));
  assert.equal(given.of("a"), "");
  for (const expected of [1, 2, 3]) {
    await turn();
    assert.equal(sent.length, expected);
    answers[expected - 1].done();
  }
  await Promise.all(all);
  assert.deepEqual(sent, [["turn 1", "up"], ["turn 1", "down"], ["turn 1", ""]]);
  assert.equal(given.of("a"), "");
});

test("what is not kept is as it was kept last, not as it was pressed last", async () => {
  const { given, answers, problems } = played();
  const first = given.give("a", "up", 0);
  await turn();
  answers[0].done();
  await first;
  const [second, third] = [given.give("a", "down", 0), given.give("a", "", 0)];
  await turn();
  answers[1].fails();
  await second;
  assert.equal(given.of("a"), "", "the press after it is still under way");
  await turn();
  answers[2].fails();
  await third;
  assert.deepEqual([given.of("a"), problems], ["up", ["away", "away"]]);
});

test("what was never kept is the server's word again, and other results are left alone", async () => {
  const { given, answers, problems } = played();
  const [one, other] = [given.give("a", "up", 0), given.give("b", "down", 0)];
  await turn();
  answers[0].fails();
  await one;
  await turn();
  answers[1].done();
  await other;
  assert.deepEqual([given.of("a"), given.of("b"), given.of("c"), problems], [undefined, "down", undefined, ["away"]]);
});
