// @ts-check
// Turns as one line: what the list has then, and what opens a turn; and what the map marks.
// Tries: js/viewer/map.js, js/viewer/turn-folds.js, js/viewer/filters.js, js/viewer/model.js, js/viewer/search.js, js/viewer/selection.js,
// js/viewer/other-hits.js

import assert from "node:assert/strict";
import { test } from "node:test";
import { layOut } from "../../js/viewer/map.js";
import { Model } from "../../js/viewer/model.js";

/** @param {string} id @param {string} role @param {string} content @returns {any} */
const message = (id, role, content) => ({ id, role, content });

/** A note before the first request, and three turns. */
function modelOf() {
  const model = new Model(/** @type {any} */ ({}));
  model.add([
    message("note", "system", "Instructions"),
    message("u1", "user", "One"),
    message("a1", "assistant", "a needle, a needle"),
    message("u2", "user", "Two"),
    message("a2", "assistant", "nothing"),
    message("a3", "assistant", "a needle"),
    message("u3", "user", "Three"),
  ]);
  return model;
}

/** The first and the last row of each item of the list. @param {Model} model */
const listed = (model) => {
  const id = (/** @type {number} */ place) => model.rows[place].id;
  const items = model.filters.items ?? model.rows.map((_, place) => ({ from: place, to: place }));
  return items.map(({ from, to }) => (from === to ? id(from) : `${id(from)}-${id(to)}`)).join(" ");
};
const ALL = "note u1 a1 u2 a2 a3 u3";

/** @param {Model} model @param {string} id */
const rowOf = (model, id) => model.rows[/** @type {number} */ (model.conversation.rowOf.get(id))];

test("a turn folds to its request, and all turns do that have one", () => {
  const model = modelOf();
  model.turnFolds.toggle(rowOf(model, "u2"));
  assert.equal(listed(model), "note u1 a1 u2-a3 u3");
  assert.equal(model.filters.placeOf(5), 3);
  assert.equal(model.isListed(rowOf(model, "u2")), true);
  assert.equal(model.isListed(rowOf(model, "a2")), false);
  model.add([message("a4", "assistant", "said later")]);
  assert.equal(listed(model), "note u1 a1 u2-a3 u3 a4");
  model.turnFolds.toggle(rowOf(model, "u1"), true);
  assert.equal(listed(model), "note u1-a1 u2-a3 u3-a4");
  assert.equal(model.end(1), 6);
  assert.deepEqual([...model.turnFolds.folded].sort(), ["u1", "u2", "u3"]);
  model.turnFolds.toggle(rowOf(model, "u1"), true);
  assert.equal(listed(model), `${ALL} a4`);
});

test("filters show what they leave of folded turns, which are folded again without them", () => {
  const model = modelOf();
  model.turnFolds.toggle(rowOf(model, "u2"));
  model.search("role:assistant");
  assert.equal(listed(model), "note-u1 a1 u2 a2 a3 u3");
  assert.equal(
    model.next(1, (row) => model.isListed(row)),
    4,
  );
  model.search("");
  assert.equal(listed(model), "note u1 a1 u2-a3 u3");
});

test("the current hit opens its turn, and folds it when it is left", () => {
  const model = modelOf();
  model.turnFolds.toggle(rowOf(model, "u1"), true);
  model.search("needle");
  assert.equal(listed(model), "note u1 a1 u2-a3 u3");
  assert.equal(model.hits.countIn(1, 2), 2);
  assert.equal(model.hits.countIn(3, 5), 1);
  assert.equal(model.hits.countIn(6, 6), 0);
  model.moveHit(-1);
  assert.equal(listed(model), "note u1-a1 u2 a2 a3 u3");
  model.search("");
  assert.equal(listed(model), "note u1-a1 u2-a3 u3");
  assert.equal(model.cursor, 3);
  model.reveal(4);
  assert.equal(listed(model), "note u1-a1 u2 a2 a3 u3");
});

test("a folded turn is selected whole", () => {
  const model = modelOf();
  model.turnFolds.toggle(rowOf(model, "u2"));
  model.selection.toggle(rowOf(model, "u2"));
  assert.deepEqual(
    model.selection.rows.map(({ id }) => id),
    ["u2", "a2", "a3"],
  );
  model.selection.toggle(rowOf(model, "u2"));
  assert.deepEqual(model.selection.rows, []);
});

test("the map marks forks and damage where they stand, the worst of those that are near each other", () => {
  const { rows, conversation } = modelOf();
  const marksOf = (/** @type {import("../../js/viewer/map.js").Landmarks} */ landmarks) => {
    const map = { height: 700, pixel: 1, window: 0 };
    const { marks, tops } = layOut(rows, conversation.turns, map, landmarks);
    const others = marks.filter(({ kind }) => kind !== "turn");
    return others.map(({ kind, top }) => `${kind} ${tops.indexOf(top)}`);
  };
  assert.deepEqual(marksOf({ forks: [], damage: [] }), []);
  rows.forEach((row) => (row.message = { ...row.message, tokens: /** @type {any} */ ({ count: 100 }) }));
  assert.deepEqual(marksOf({ forks: [3], damage: [-1, 6] }), ["damage 0", "damage 7", "fork 4"]);
  assert.deepEqual(marksOf({ forks: [3], damage: [3] }), ["damage 4"]);
});

test("hits on other branches are counted, and shown one branch after another", () => {
  const model = modelOf();
  for (const name of ["b", "c"])
    model.add([{ ...message(`${name}1`, "user", `a needle in ${name}`), parentId: "u1", branch: true }]);
  const shown = () => [
    model.rows.at(-1)?.id,
    model.hits.length,
    model.otherHits.length,
    model.hit && model.rows[model.hit.row].id,
  ];
  model.search("needle");
  assert.deepEqual(shown(), ["c1", 1, 4, "c1"]);
  model.otherHits.goToNext();
  assert.deepEqual(shown(), ["u3", 3, 2, "a1"]);
  model.moveHit(2);
  model.otherHits.goToNext();
  assert.deepEqual(shown(), ["b1", 1, 4, "b1"]);
  model.otherHits.goToNext();
  assert.deepEqual(shown(), ["c1", 1, 4, "c1"]);
  model.search("needle role:assistant");
  assert.deepEqual(shown(), ["c1", 0, 3, undefined]);
  model.search("");
  assert.equal(model.otherHits.length, 0);
});
