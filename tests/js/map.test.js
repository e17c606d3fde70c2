// Where the arrow keys lead on a map and in a list, and which of its places show a picture.
import assert from "node:assert/strict";
import test from "node:test";
import { inNextRow, nearest, uncrowded } from "../../assets/js/search/results/directions.js";

const at = (x, y) => ({ x, y });

test("an arrow leads to the nearest place in its direction", () => {
  const [right, far, above, aside] = [at(10, 2), at(30, 0), at(0, -20), at(5, 9)];
  const places = [far, above, aside, right];
  assert.equal(nearest(at(0, 0), places, "ArrowRight"), right);
  assert.equal(nearest(at(0, 0), places, "ArrowUp"), above);
  assert.equal(nearest(at(0, 0), places, "ArrowDown"), aside);
  assert.equal(nearest(at(0, 0), places, "ArrowLeft"), undefined);
  assert.equal(nearest(at(0, 0), places, "x"), undefined);
});

test("without a place straight ahead, one aside is reached", () => {
  assert.deepEqual(nearest(at(0, 0), [at(1, 50), at(1, -8)], "ArrowRight"), at(1, -8));
});

test("every place can be reached from any other", () => {
  const places = Array.from({ length: 80 }, (_, n) => at((n * 37) % 101, (n * 61) % 97));
  const reached = new Set([places[0]]), open = [places[0]];
  while (open.length) {
    const from = open.pop();
    for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]) {
      const to = nearest(from, places.filter((one) => one !== from), key);
      if (to && !reached.has(to)) { reached.add(to); open.push(to); }
    }
  }
  assert.ok(reached.size >= 76, `${reached.size} of 80`);
});

test("pictures keep their distance, the better ranked first", () => {
  assert.deepEqual(uncrowded([at(0, 0), at(5, 5), at(12, 0), at(11, 3), at(-11, -3)], 10), [true, false, true, false, true]);
});

test("in a list an arrow leads to the next row, however short a row is", () => {
  const tops = [0, 0, 0, 50, 50, 120.5, 121, 120]; // three, then two in front of a heading, then three
  const down = tops.map((_, from) => inNextRow(tops, from, true)), up = tops.map((_, from) => inNextRow(tops, from, false));
  assert.deepEqual(down, [3, 4, 4, 5, 6, 7, 7, 7]);
  assert.deepEqual(up, [0, 0, 0, 0, 1, 3, 4, 4]);
  assert.deepEqual([inNextRow([7], 0, true), inNextRow([7], 0, false)], [0, 0]);
});
