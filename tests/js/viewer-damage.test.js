// @ts-check
// Where the viewer shows what could not be read: at its place among the messages, with its own bytes.
// Tries: js/viewer/damage.js, js/viewer/dropped.js, js/viewer/branches.js

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { MemoryStorage, openStore } from "../../js/index.js";
import { Branches } from "../../js/viewer/branches.js";
import { describeLoss, findDamage, formatHex, locateImported, locateIn } from "../../js/viewer/damage.js";
import { importFiles } from "../../js/viewer/dropped.js";

/** @import { ReadMessage, Session } from "../../js/index.js" */

const FIXTURES = fileURLToPath(new URL("../fixtures/", import.meta.url));

/** @param {Session} session */
async function readAll(session) {
  /** @type {ReadMessage[]} */
  const all = [];
  for await (const message of session.messages({ allBranches: true })) all.push(message);
  return all;
}

/** A session in memory whose log has these bytes. @param {Uint8Array} log */
async function openLog(log) {
  const place = { storage: new MemoryStorage(), home: "/home", project: "/project" };
  const written = await (await openStore(place)).create();
  await written.append({ role: "user", content: "replaced below" });
  await place.storage.replace(`${written.path}/messages.jsonl`, log);
  const store = await openStore({ ...place, readOnly: true });
  return { store, session: await store.session(written.id) };
}

/** The lines of a file that end before a byte. @param {Buffer} file @param {number} start */
const linesBefore = (file, start) => file.subarray(0, start).toString("latin1").split("\n").slice(0, -1);

for (const name of readdirSync(join(FIXTURES, "format")).filter((file) => file.endsWith(".jsonl")))
  test(`the damage of format/${name}`, async () => {
    const log = readFileSync(join(FIXTURES, "format", name));
    const { store, session } = await openLog(new Uint8Array(log));
    const messages = await readAll(session);
    const ids = new Set(messages.map(({ id }) => id));
    const damage = await findDamage(store, session, messages);
    const { problems } = await session.examine();
    assert.equal(damage.length, problems.length);
    for (const { file, start = 0, end = 0, bytes, after } of damage.filter((one) => one.file === "messages.jsonl")) {
      assert.deepEqual(Buffer.from(bytes ?? []), log.subarray(start, end), `${file} ${start}`);
      const before = linesBefore(log, start).flatMap((line) => [
        ...line.matchAll(/^\{"v":1,(?:"batch":\{[^}]*\},)?"id":"([^"]+)"/g),
      ]);
      assert.equal(after, before.map(([, id]) => id).findLast((id) => ids.has(id)) ?? "", `${file} ${start}`);
    }
  });

test("messages that are missing are counted by their numbers", async () => {
  const line = (/** @type {number} */ seq) => `{"v":1,"id":"m${seq}","seq":${seq},"role":"user","content":"${seq}"}\n`;
  for (const [kept, missing] of /** @type {const} */ ([
    [[0, 3], 2],
    [[0, 2], 1],
    [[2, 3], 2],
    [[0, 1], 0],
  ])) {
    const [first, second] = kept;
    const log = first === 2 ? `broken\n${line(2)}${line(3)}` : `${line(first)}broken\n${line(second)}`;
    const opened = await openLog(new TextEncoder().encode(log));
    const [damage] = await findDamage(opened.store, opened.session, await readAll(opened.session));
    assert.equal(damage.missing, missing, log);
    assert.equal(/\d|One/.test(describeLoss(damage)), missing > 0);
  }
});

test("where the file is not the log byte by byte, no place is told", async () => {
  const { session } = await openLog(
    new TextEncoder().encode('{"v":1,"id":"a","role":"user","content":"one"}\nbroken\n'),
  );
  const { problems } = await session.examine();
  const text = await session.export("leftoff");
  const messages = await readAll(session);
  assert.equal(locateIn(text, problems, { size: 54, messages })[0].after, "a");
  assert.deepEqual(locateIn(text.replace("one", "[removed]"), problems, { size: 54, messages }), problems);
});

for (const [path, isNamed] of /** @type {[string, (line: string) => boolean][]} */ ([
  ["claude-code/claude-code-log/edge_cases.jsonl", (line) => line.includes('"uuid"')],
  ["codex/agent-sessions/session_branch.jsonl", () => true],
]))
  test(`the damage of ${path}`, async () => {
    const file = readFileSync(join(FIXTURES, path));
    const { store, sessions, problems } = await importFiles([{ path, file: new File([file], path) }]);
    const session = await store.session(sessions[0].id);
    const messages = await readAll(session);
    const damage = await locateImported(problems, messages);
    assert.ok(damage.length > 0);
    for (const { start = 0, end = 0, bytes, after } of damage) {
      assert.deepEqual(Buffer.from(bytes ?? []), file.subarray(start, end));
      const lines = linesBefore(file, start);
      const sourceId = messages.find(({ id }) => id === after)?.source?.id ?? "none";
      const known = (/** @type {string} */ line, /** @type {number} */ place) => {
        const offset = Buffer.byteLength(`${lines.slice(0, place).join("\n")}\n`, "latin1");
        return messages.some(
          ({ source }) => line.includes(`"${source?.id}"`) || source?.id === `byte-${place ? offset : 0}`,
        );
      };
      const place = lines.findLastIndex((line, at) => isNamed(line) && known(line, at));
      const offset = Buffer.byteLength(`${lines.slice(0, place).join("\n")}\n`, "latin1");
      assert.ok(lines[place].includes(`"${sourceId}"`) || sourceId === `byte-${offset}`, `${start}: ${sourceId}`);
    }
  });

test("damage of a branch that is not shown stands behind the last message before it that is", () => {
  const message = (/** @type {string} */ id, /** @type {object} */ fields = {}) =>
    /** @type {ReadMessage} */ ({ id, role: "user", content: id, ...fields });
  const branches = new Branches();
  branches.add([message("a"), message("b", { onPath: false }), message("c", { parentId: "a", branch: true })]);
  assert.deepEqual(
    ["", "a", "b", "c", "unknown"].map((id) => branches.shownBefore(id)),
    ["", "a", "a", "c", ""],
  );
});

test("bytes are written as a dump", () => {
  const bytes = new TextEncoder().encode('{"v":1,"id":"01a…');
  assert.equal(
    formatHex(bytes, 7_117),
    '  7117  7b 22 76 22 3a 31 2c 22 69 64 22 3a 22 30 31 61  {"v":1,"id":"01a\n  7133  e2 80 a6                                         ···',
  );
});
