// @ts-check
// How the viewer scrolls over more pixels than a browser lets an element be high.
// Tries: js/viewer/elements/long-scroll.js

import assert from "node:assert/strict";
import { test } from "node:test";
import { LongScroll } from "../../js/viewer/elements/long-scroll.js";

const [HEIGHT, STRETCH, TOTAL] = [800, 4_000, 100_000];

/** A scrolled element: it is as high as its content, and clamps where it is scrolled to, as a browser does. */
class Scrolled {
  clientHeight = HEIGHT;
  scrollHeight = STRETCH;
  #top = 0;

  get scrollTop() {
    return this.#top;
  }

  set scrollTop(top) {
    this.#top = Math.min(Math.max(top, 0), this.scrollHeight - this.clientHeight);
  }
}

function scrollOf(total = TOTAL) {
  const element = new Scrolled();
  const scroll = new LongScroll(/** @type {any} */ (element), STRETCH);
  scroll.total = total;
  element.scrollHeight = scroll.stretch;
  return { element, scroll };
}

test("a list that fits is scrolled as any other", () => {
  const { element, scroll } = scrollOf(3_000);
  scroll.scrollTo({ top: 2_000 });
  assert.deepEqual([scroll.base, scroll.stretch, element.scrollTop, scroll.scrollTop], [0, 3_000, 2_000, 2_000]);
  assert.equal(scroll.rest(), undefined);
  assert.deepEqual([scroll.placeOf(1_500, 100), scroll.scrollHeight], [1_500, 3_000]);
});

test("each place of a long list is reached, and the element is never higher than allowed", () => {
  const { element, scroll } = scrollOf();
  for (const top of [0, 1_000, 50_000, 99_200, 3_300, 98_000, 12]) {
    scroll.scrollTo({ top });
    assert.equal(scroll.scrollTop, top);
    assert.ok(scroll.stretch <= STRETCH);
    const place = scroll.placeOf(top, 100);
    assert.equal(place, element.scrollTop, `the row at ${top} is at the top of the view`);
  }
  scroll.scrollTo({ top: TOTAL });
  assert.equal(scroll.scrollTop, TOTAL - HEIGHT);
  assert.equal(scroll.scrollHeight - scroll.clientHeight, TOTAL - HEIGHT);
});

test("who only scrolls reaches both ends, and nothing moves as the stretch does", () => {
  const { element, scroll } = scrollOf();
  for (const [by, end] of [
    [500, TOTAL - HEIGHT],
    [-500, 0],
  ])
    for (let step = 0; scroll.scrollTop !== end; step += 1) {
      assert.ok(step < 400, `expected to reach ${end}, but it ends at ${scroll.scrollTop}`);
      element.scrollTop += by;
      const before = [scroll.scrollTop, scroll.placeOf(scroll.scrollTop + 10, 50) - element.scrollTop];
      scroll.rest()?.();
      assert.deepEqual([scroll.scrollTop, scroll.placeOf(scroll.scrollTop + 10, 50) - element.scrollTop], before);
    }
});

test("a row beyond the stretch is where nobody scrolls", () => {
  const { scroll } = scrollOf();
  scroll.scrollTo({ top: 50_000 });
  for (const top of [0, 47_800, 52_001, 99_000]) assert.ok(scroll.placeOf(top, 100) <= -100, String(top));
});
