// @ts-check
/** Marks what a search found on screen. The browser paints the marks: no node of the page changes. */

import { patternOf } from "./search.js";

/** @import { Model } from "./model.js" */

/**
 * Marks all hits below an element, and the current one apart.
 * @param {Element} root @param {Model} model
 */
export function markHits(root, model) {
  if (typeof Highlight === "undefined") return;
  const pattern = patternOf(model.filters.text);
  const all = new Highlight();
  const now = new Highlight();
  now.priority = 1;
  const { hit } = model;
  const current = hit?.owner.id;
  /** @type {Map<string, number>} how many of a part were found, which may stand in two boxes */
  const seen = new Map();
  for (const part of pattern ? root.querySelectorAll("[data-part]") : []) {
    const name = part.getAttribute("data-part") ?? "";
    const isCurrentRow = part.closest("[data-message]")?.getAttribute("data-message") === current;
    for (const range of rangesOf(part, /** @type {RegExp} */ (pattern))) {
      const nth = seen.get(`${isCurrentRow}/${name}`) ?? 0;
      seen.set(`${isCurrentRow}/${name}`, nth + 1);
      (isCurrentRow && name === hit?.part && nth === hit.nth ? now : all).add(range);
    }
  }
  CSS.highlights.set("hit", all);
  CSS.highlights.set("hit-now", now);
}

/** The place of the current hit on screen, if it is mounted. @returns {DOMRect | undefined} */
export function currentHitBox() {
  const [range] = CSS.highlights?.get("hit-now") ?? [];
  return range instanceof Range ? range.getBoundingClientRect() : undefined;
}

/** Finds a text across the nodes of an element. @param {Element} element @param {RegExp} pattern */
function rangesOf(element, pattern) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  /** @type {{ node: Node, start: number }[]} */
  const nodes = [];
  let text = "";
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    nodes.push({ node, start: text.length });
    text += node.nodeValue;
  }
  return [...text.matchAll(pattern)].map(({ index, 0: found }) => {
    const range = new Range();
    const [from, to] = [placeIn(nodes, index, false), placeIn(nodes, index + found.length, true)];
    range.setStart(from.node, from.offset);
    range.setEnd(to.node, to.offset);
    return range;
  });
}

/** @param {{ node: Node, start: number }[]} nodes @param {number} at @param {boolean} isEnd */
function placeIn(nodes, at, isEnd) {
  const found = nodes.findLast(({ start }) => (isEnd ? start < at : start <= at)) ?? nodes[0];
  return { node: found.node, offset: at - found.start };
}
