// The benchmarks screen: what is in its address, and where ranks are in the small plot.
import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.js";
const { readView, wanted, wantedTargets, PAGE } = await import("../../assets/js/benchmarks/address.js");
const { placesOf } = await import("../../assets/js/benchmarks/plot.js");
const { THINGS, confidence, howFar, targetsAt } = await import("../../assets/js/benchmarks/words.js");

test("an address without anything is the paper's filters", () => {
  const view = readView("http://x/benchmarks?name=first");
  assert.deepEqual(view, { name: "first", epsilon: "30", tau: "0.8", threshold: "0.85", subset: "", show: "all", q: "", sort: "constructed", order: "up", page: 1 });
  assert.equal(wanted(view).toString(), `name=first&epsilon=30&tau=0.8&offset=0&limit=${PAGE}`);
});

test("what is asked of targets is the threshold, and nothing of sessions", () => {
  const view = readView("http://x/benchmarks?name=a&threshold=0.7&tau=0.5&sort=lowest&show=lost&order=down&page=2");
  assert.equal(wantedTargets(view).toString(), `name=a&threshold=0.7&offset=${PAGE}&limit=${PAGE}&show=lost&sort=lowest&order=down`);
  assert.equal(wanted(view).toString(), `name=a&epsilon=30&tau=0.5&offset=${PAGE}&limit=${PAGE}&order=down`);
  for (const wrong of ["1.1", "-0.1", "", "x"]) assert.equal(readView(`http://x/b?threshold=${wrong}`).threshold, "0.85");
});

test("targets at a threshold are those with it or more", () => {
  const sure = [0.2, 0.8495, 0.85, 0.85, 1];
  assert.deepEqual([0, 0.85, 0.8500001, 1].map((threshold) => targetsAt(sure, threshold)), [5, 3, 1, 1]);
  assert.equal(targetsAt([], 0), 0);
  assert.deepEqual([0.8495, 0.85, 1, null].map(confidence), ["0.8495", "0.85", "1.00", "–"]);
});

test("values that the server refuses are left out", () => {
  const view = readView("http://x/benchmarks?name=a&epsilon=-1&tau=5&show=some&sort=name&order=left&page=-3&q=red");
  assert.deepEqual({ ...view }, { ...readView("http://x/benchmarks?name=a"), q: "red" });
  const { epsilon, tau, show, sort, order, page } = readView("http://x/b?epsilon=0&tau=2&show=rank%20margin&sort=overall&order=down&page=7");
  assert.deepEqual([epsilon, tau, show, sort, order, page], ["0", "2", "rank margin", "overall", "down", 7]);
  assert.equal(wanted({ ...view, page: 3, sort: "turns" }).get("offset"), String(2 * PAGE));
});

test("ranks are on a logarithmic scale, the best one lowest", () => {
  const { hit, places } = placesOf([1000, 100, 10, 1], 10);
  const steps = [places[1].y - places[0].y, places[2].y - places[1].y, places[3].y - places[2].y];
  assert.ok(steps.every((step) => step > 0 && Math.abs(step - steps[0]) < 1e-9));
  assert.equal(places[2].y, hit);
  assert.ok(places[0].x < places[1].x);
});

test("what is not ranked is behind all others, and one turn is a point", () => {
  assert.equal(placesOf([null, 500], 10).places[0].y, placesOf([500, 500], 10).places[0].y);
  assert.equal(placesOf([3], 10).places.length, 1);
  assert.ok(placesOf([3], 10).places[0].y > placesOf([3], 10).hit);
});

test("how far a construction is", () => {
  const run = { text: "Constructing", done: 0, total: 0, rate: null, running: true };
  assert.equal(howFar(run), "Constructing…");
  assert.equal(howFar({ ...run, done: 30, total: 90, rate: 2 }), "30 of 90 sessions · 2.0 a second · 30 s left");
  assert.equal(howFar({ ...run, done: 3, total: 90, rate: 0.05 }), "3 of 90 sessions · 3.0 a minute · 29 min left");
  assert.equal(howFar({ ...run, done: 1234, total: 0, running: false }), "1,234 sessions");
  assert.equal(howFar({ ...run, done: 1, total: 1, running: false }, THINGS.targets), "1 of 1 query");
});
