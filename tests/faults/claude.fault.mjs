// @ts-check
/** Two programs mirror a session of the Claude Agent SDK, and are killed; the next ones repeat what was not acknowledged. */
// Tries: js/claude/transcript.js, js/claude/marks.js, js/claude/recorder.js

import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sessionStore } from "../../js/claude/index.js";
import { openStore } from "../../js/index.js";
import { KEY, batchOf } from "./claude-entries.mjs";
import { killInSessions, runOrKill } from "./killed.mjs";

/** @typedef {{ by: string, tries: number[], acknowledged: number }} Writer `tries`: how often a batch was appended, at most */

const MIRROR = fileURLToPath(new URL("claude-mirror.mjs", import.meta.url));
const BATCHES = 60;

/** @type {import("../../scripts/faults.mjs").Fault} */
export default {
  title: "two programs mirror one session, killed at any moment: each acknowledged entry is there, each message once",
  async run({ scaled, seed }) {
    const counts = { kills: 0, sessions: 0, acknowledged: 0, "titles twice": 0 };
    await killInSessions({ name: "claude", wanted: scaled(200), seed, counts }, holdSession);
    return counts;
  },
};

/** @param {import("./killed.mjs").KilledSession} killed */
async function holdSession(killed) {
  const { home, counts } = killed;
  const folder = join(home, "store");
  const writers = ["ann", "bob"].map((by) => ({
    by,
    tries: Array.from({ length: BATCHES }, () => 0),
    acknowledged: 0,
  }));
  await Promise.all(writers.map((writer) => write(writer, folder, killed)));
  counts.sessions = (counts.sessions ?? 0) + 1;
  counts.acknowledged = (counts.acknowledged ?? 0) + 2 * BATCHES;
  const store = await openStore({ home: folder, project: "/" });
  const sessions = sessionStore({ store });
  try {
    const loaded = (await sessions.load(KEY)) ?? [];
    for (const { by, tries } of writers) {
      const prompts = loaded.filter(({ uuid }) => uuid?.startsWith(by));
      assert.deepEqual(
        prompts,
        tries.map((_, place) => batchOf(by, place)[0]),
      );
      for (const [place, count] of tries.entries()) {
        const title = batchOf(by, place)[1];
        const found = loaded.filter(({ customTitle }) => customTitle === title?.customTitle).length;
        assert.ok(found >= 1 && found <= count, `${by} ${place}: ${found} titles of ${count}`);
        counts["titles twice"] = (counts["titles twice"] ?? 0) + found - 1;
      }
    }
    await sessions.flush();
    await checkRecorded(store, home);
    assert.deepEqual(readdirSync(join(folder, "claude-agent", "unrecorded.d")), []);
  } finally {
    await sessions.close();
    await store.close();
  }
}

/**
 * Lets one program after the other write, until all is acknowledged.
 * @param {Writer} writer @param {string} folder @param {import("./killed.mjs").KilledSession} killed
 */
async function write(writer, folder, killed) {
  while (writer.acknowledged < BATCHES) {
    const from = writer.acknowledged;
    const args = [MIRROR, folder, writer.by, String(BATCHES), String(from)];
    const { said } = await runOrKill(args, () => killed.random.below(BATCHES / 4), killed);
    writer.acknowledged = (said.at(-1) ?? from - 1) + 1;
    // The one behind it may have been written, and not acknowledged.
    for (let place = from; place <= Math.min(writer.acknowledged, BATCHES - 1); place += 1)
      writer.tries[place] = (writer.tries[place] ?? 0) + 1;
  }
}

/** Each message is in the store once, also when the client's own file is imported. @param {import("../../js/store/store.js").Store} store @param {string} home */
async function checkRecorded(store, home) {
  const places = Array.from({ length: BATCHES }, (_, place) => place);
  const all = ["ann", "bob"].flatMap((by) => places.flatMap((place) => batchOf(by, place)));
  const file = join(home, `${KEY.sessionId}.jsonl`);
  writeFileSync(file, all.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  const said = all.flatMap(({ message }) => (message ? [message.content] : [])).sort();
  for (const isImported of [false, true]) {
    if (isImported) assert.equal((await store.import(file)).imported[0]?.added, 0);
    const session = await store.session({ source: { agent: "claude-code", id: KEY.sessionId } });
    const found = [];
    for await (const { content } of session.messages({ allBranches: true })) found.push(content ?? "");
    assert.deepEqual(found.sort(), said);
  }
}
