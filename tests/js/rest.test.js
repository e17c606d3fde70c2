// The page says when it is at rest: nothing under way, nothing waiting for a timer.
import assert from "node:assert/strict";
import test, { mock } from "node:test";
import { openPage } from "./page.js";
import { api } from "../../assets/js/shared/calls.js";
import { createDelay, createGuard, stirs, until } from "../../assets/js/shared/rest.js";

const turn = async () => { for (let round = 0; round < 20; round += 1) await Promise.resolve(); };
function open(answer) {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  const { document } = openPage(answer);
  return () => {
    mock.timers.tick(0);
    return document.documentElement.dataset.rest;
  };
}

test("work keeps the page from rest until it is done or has failed", async () => {
  const rest = open();
  let done, fail;
  const one = until(new Promise((resolve) => { done = resolve; }));
  const other = until(new Promise((_, reject) => { fail = reject; }));
  assert.equal(rest(), "no");
  done();
  await one;
  assert.equal(rest(), "no");
  fail(new Error("no"));
  await assert.rejects(other);
  assert.equal(rest(), "yes");
});

test("there is no rest between an answer and what follows from it at once", async () => {
  const rest = open();
  await until(Promise.resolve());
  until(Promise.resolve());
  assert.equal(rest(), "no");
  await turn();
  assert.equal(rest(), "yes");
});

test("a delay runs once, after the last start; a guard says for how long", () => {
  const rest = open();
  const delay = createDelay(100), done = [];
  delay.start(() => done.push("one"));
  mock.timers.tick(60);
  delay.start(() => done.push("two"));
  mock.timers.tick(60);
  assert.deepEqual([done, delay.runs, rest()], [[], true, "no"]);
  mock.timers.tick(60);
  assert.deepEqual([done, delay.runs, rest()], [["two"], false, "yes"]);
  delay.start(() => done.push("three"));
  delay.stop();
  mock.timers.tick(200);
  assert.deepEqual([done, rest()], [["two"], "yes"]);
  const guard = createGuard();
  guard.start();
  assert.equal(rest(), "no");
  mock.timers.tick(250);
  assert.deepEqual([guard.runs, rest()], [false, "yes"]);
});

test("a call is unrest, looking for news is not", async () => {
  let answers;
  const rest = open(() => new Promise((resolve) => { answers = resolve; }));
  stirs("opening");
  stirs("opening", false);
  const news = api("GET", "study/mine", undefined, { news: true });
  await turn();
  assert.equal(rest(), "yes");
  answers({});
  await news;
  const call = api("GET", "study/mine");
  await turn();
  assert.equal(rest(), "no");
  answers({});
  await call;
  assert.equal(rest(), "yes");
  mock.timers.reset();
});
