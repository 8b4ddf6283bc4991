// @ts-check
/**
 * What lists say does not hang on what can be made again: it is deleted, damaged, made stale, and surrounded by
 * rubbish.
 */
// Tries: src/operation/store/session_index.rs, src/session/index.rs, src/session/checkpoint.rs, src/session/documents/

import assert from "node:assert/strict";
import fs from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { listAll, manySessions, withChecksums } from "../js/many-sessions.js";
import { foreignThings } from "./foreign.mjs";
import { changes } from "./changes.mjs";
import { chance, scene } from "./tools.mjs";

/** @typedef {Awaited<ReturnType<typeof manySessions>>} ManySessions */

const LISTER = fileURLToPath(new URL("lister.mjs", import.meta.url));
const NUMBER = /^\d+$/;

/** @type {import("../../scripts/faults.mjs").Fault} */
export default {
  title: "a list does not hang on what is derived, nor on what lies beside",
  run: ({ scaled, seed }) =>
    scene("derived", async ({ folder, start }) => {
      const at = (/** @type {string} */ name) => join(folder, name);
      const many = await manySessions(at("many"), Math.max(40, scaled(1000)));
      const few = await manySessions(at("few"), 24);
      return {
        sessions: many.paths.length,
        deletions: await deletions(many),
        "damaged indexes": await damagedIndexes(few, { flips: scaled(3000), cuts: scaled(1000), random: chance(seed) }),
        "stale in ways": await staleIndexes(few),
        "foreign things": await surroundWithThings(
          await manySessions(at("surrounded"), 40),
          Math.max(60, scaled(1000)),
        ),
        "lists at once": await atOnce(await manySessions(at("shared"), 30), {
          start,
          rounds: Math.max(3, scaled(100)),
        }),
      };
    }),
};

/** Every combination of what is derived, deleted. @param {ManySessions} made */
async function deletions({ home, project, options, paths }) {
  const index = join(home, "sessions", "index.jsonl");
  const documents = paths.map((path) => join(path, path.endsWith(".session") ? "session.json" : "metadata.json"));
  const whole = [...documents, join(home, "workspaces.jsonl"), join(project, ".leftoff", "current-session.json")];
  const kept = new Map(whole.filter((path) => fs.existsSync(path)).map((path) => [path, fs.readFileSync(path)]));
  const remove = (/** @type {string[]} */ all) =>
    all.forEach((path) => fs.rmSync(path, { recursive: true, force: true }));
  const parts = [
    () => remove([index]),
    () => remove([join(home, "cache")]),
    () => remove(documents.filter((_, place) => place % 2 === 0)),
    () => remove(documents.filter((_, place) => place % 2 === 1)),
    () => remove([join(project, ".leftoff", "current-session.json"), join(project, ".leftoff", "current-session")]),
    () => remove([join(home, "workspaces.jsonl")]),
  ];
  remove([index]);
  const before = { all: await listAll(options), project: await listAll(options, {}) };
  assert.ok(before.all.length > paths.length && before.project.length > 0);
  for (let which = 1; which < 2 ** parts.length; which += 1) {
    for (const [path, bytes] of kept) if (!fs.existsSync(path)) fs.writeFileSync(path, bytes);
    await listAll(options);
    parts.forEach((part, place) => which & (1 << place) && part());
    assert.deepEqual(await listAll(options), before.all, `without the parts ${which.toString(2)}`);
    assert.deepEqual(
      await listAll(options, {}),
      before.project,
      `of the project, without the parts ${which.toString(2)}`,
    );
  }
  return 2 ** parts.length - 1;
}

/** @param {ManySessions} made @param {{ flips: number, cuts: number, random: ReturnType<typeof chance> }} options */
async function damagedIndexes({ home, options }, { flips, cuts, random }) {
  const path = join(home, "sessions", "index.jsonl");
  const expected = await listAll(options);
  await waitForTick();
  await listAll(options);
  const sound = fs.readFileSync(path);
  const text = sound.toString();
  let count = 0;
  const check = async (/** @type {Uint8Array | string} */ index, /** @type {string} */ what) => {
    fs.writeFileSync(path, index);
    assert.deepEqual(await listAll(options), expected, what);
    if (count % 5 === 0)
      assert.deepEqual(
        await listAll(options, { all: true, type: null, archived: null, limit: 5 }),
        expected.slice(0, 5),
        what,
      );
    count += 1;
  };
  for (let n = 0; n < flips; n += 1) {
    const [byte, bit] = [random.below(sound.length), random.below(8)];
    const flipped = Buffer.from(sound);
    flipped[byte] = Number(flipped[byte]) ^ (1 << bit);
    await check(flipped, `bit ${bit} of byte ${byte} flipped`);
  }
  for (let n = 0; n < cuts; n += 1) {
    const end = Math.round((sound.length * n) / cuts);
    await check(sound.subarray(0, end), `cut at byte ${end}`);
  }
  const lie = (/** @type {string} */ from, /** @type {string} */ to) => withChecksums(text.replaceAll(from, to));
  for (const [what, index] of Object.entries({
    "zero bytes": Buffer.concat([sound, new Uint8Array(5000)]),
    "zero bytes before": Buffer.concat([new Uint8Array(5000), sound]),
    "foreign lines": `{"a":1}\nnot JSON\n[]\n5\n\n\r\n${text}{"v":1,"path":5}\n`,
    "a newer version": lie('{"v":1,', '{"v":2,'),
    "lines of another store": lie('"files":[[', '"files":[[9'),
    "other values": lie('"title":"', '"title":5,"was":"').replaceAll('"lifecycle":"', '"lifecycle":"no'),
    "nothing but a path": withChecksums(text.replace(/"placement".*?"crc"/g, '"crc"')),
    "no JSON, rightly summed": lie('"placement":', '"placement":{'),
    "each line twice, the older one behind": text + text,
    "a title of the prototype": lie('"title":', '"__proto__":{"title":"x"},"title":'),
    "deep values": lie('"title":', `"deep":${"[".repeat(100_000)}${"]".repeat(100_000)},"title":`),
  })) {
    // Whose files are the same is believed: those that lie say so in their title, or are of no files.
    if (what === "each line twice, the older one behind" || !NUMBER.test(what)) await check(index, what);
  }
  return count;
}

// The clock of files stands still for a tick, and what changed within it is not taken into the index.
async function waitForTick() {
  const until = Date.now() + 50;
  while (Date.now() < until) await new Promise((resolve) => setImmediate(resolve));
}

/** Whatever changed since the index was made, the list is that of a store without one. @param {ManySessions} made */
async function staleIndexes({ home, project, options, paths }) {
  const index = join(home, "sessions", "index.jsonl");
  const all = changes({ home, project, paths });
  for (const [what, change] of Object.entries(all)) {
    await waitForTick();
    await listAll(options);
    await change();
    const limited = await listAll(options, { all: true, type: null, archived: null, limit: 7 });
    const before = { all: await listAll(options), project: await listAll(options, {}) };
    fs.rmSync(index, { force: true });
    assert.deepEqual(before, { all: await listAll(options), project: await listAll(options, {}) }, what);
    assert.deepEqual(limited, before.all.slice(0, 7), `the first of them, ${what}`);
  }
  return Object.keys(all).length;
}

/** @param {ManySessions} made @param {number} count */
async function surroundWithThings({ home, project, options }, count) {
  const before = await listAll(options);
  const sound = new Set(before.map(({ path }) => path));
  const things = foreignThings({
    sessions: join(home, "sessions", "projects"),
    conversations: join(project, "conversations"),
    home,
  });
  const own =
    before
      .filter(({ path }) => path.startsWith(home))
      .map(({ path }) => dirname(path))
      .sort()[0] ?? "";
  for (let n = 0; n < count; n += 1) things[n % things.length]?.(own, n);
  try {
    for (const wanted of [
      { all: true, type: null, archived: null },
      { type: null, archived: null },
      { all: true, type: null, archived: null, verify: false },
    ]) {
      for (const time of ["first", "again"]) {
        const found = (await listAll(options, wanted)).filter(({ path }) => sound.has(path));
        const expected = wanted.all ? before : before.filter(({ path }) => found.some((one) => one.path === path));
        assert.deepEqual(found, expected, `${JSON.stringify(wanted)} ${time}`);
        assert.ok(found.length > before.length / 2, `${found.length} of ${before.length} are left`);
      }
    }
  } finally {
    // What may not be looked into could not be removed either.
    for (const path of [own, join(project, "conversations")]) {
      for (const name of fs.readdirSync(path, { encoding: "buffer" })) {
        const odd = Buffer.concat([Buffer.from(`${path}/`), name]);
        if (fs.lstatSync(odd).isDirectory()) fs.chmodSync(odd, 0o700);
        // Nor what a program cannot name that takes all names for texts.
        if (!Buffer.from(name.toString()).equals(name)) fs.rmdirSync(odd);
      }
    }
  }
  return count;
}

/**
 * Processes list, append and compact at once.
 * @param {ManySessions} made
 * @param {{ start: import("./tools.mjs").Start, rounds: number }} options
 */
async function atOnce({ home, project, options }, { start, rounds }) {
  const children = [1, 2, 3].map((n) => start(process.execPath, [LISTER, home, project, String(rounds), String(n)]));
  const ended = await Promise.all(children.map((child) => child.ended));
  for (const { code, stderr } of ended) assert.equal(code, 0, stderr);
  const said = children.flatMap((child) => child.said);
  assert.equal(said.length, children.length * rounds);
  const found = await listAll(options);
  fs.rmSync(join(home, "sessions", "index.jsonl"), { force: true });
  assert.deepEqual(found, await listAll(options));
  const counts = new Map(found.map(({ id, messageCount }) => [id, messageCount]));
  for (const { id, count } of said)
    assert.ok(
      (counts.get(id) ?? 0) >= count,
      `expected ${count} messages of ${id}, but found ${counts.get(id)} instead`,
    );
  return said.length;
}
