// @ts-check
/** A plugin records a session in two processes, which are killed and started again; then its agent's file is imported. */
// Tries: src/operation/store/import/live.rs, src/interop/import_diff.rs

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore } from "../../js/index.js";
import { killInSessions, runOrKill } from "./killed.mjs";
import { SOURCE, exportOf } from "./live-session.mjs";

const RECORDER = fileURLToPath(new URL("live-recorder.mjs", import.meta.url));
const MESSAGES = 40;

/** @type {import("../../scripts/faults.mjs").Fault} */
export default {
  title:
    "two plugins record one session, killed at any moment: what was acknowledged is there, and an import finds each message once",
  async run({ scaled, seed }) {
    const counts = { kills: 0, sessions: 0, acknowledged: 0, "added by the import": 0 };
    await killInSessions({ name: "live", wanted: scaled(200), seed, counts }, holdSession);
    return counts;
  },
};

/** @param {import("./killed.mjs").KilledSession} killed */
async function holdSession(killed) {
  const { home, random, counts } = killed;
  const store = join(home, "store");
  /** How long each message was acknowledged to be. @type {Map<number, number>} */
  const told = new Map();
  const recorder = async () => {
    for (let from = 0; ;) {
      const args = [RECORDER, store, String(MESSAGES), String(from)];
      const { isDone, said } = await runOrKill(args, () => 1 + random.below(MESSAGES), killed);
      for (const [place, length] of said) {
        told.set(place, Math.max(told.get(place) ?? 0, length));
        // What the client has told once it does not tell again, but for the last.
        from = Math.max(from, place);
      }
      if (isDone) return;
    }
  };
  await Promise.all([recorder(), recorder()]);
  counts.sessions = (counts.sessions ?? 0) + 1;
  counts.acknowledged = (counts.acknowledged ?? 0) + told.size;
  const recorded = await contentsOf(store);
  for (const [place, length] of told) {
    const found = recorded.find((content) => new RegExp(`^\\w+ ${place}[.?]`).test(content));
    assert.ok(
      found !== undefined && found.trimEnd().length >= length - 1,
      `message ${place}, acknowledged, of ${length}`,
    );
  }
  const file = join(home, "export.json");
  writeFileSync(file, JSON.stringify(exportOf(MESSAGES)));
  const opened = await openStore({ home: store, project: "/" });
  const { imported } = await opened.import(file);
  await opened.close();
  counts["added by the import"] = (counts["added by the import"] ?? 0) + (imported[0]?.added ?? 0);
  const alone = join(home, "alone");
  const other = await openStore({ home: alone, project: "/" });
  await other.import(file);
  await other.close();
  assert.deepEqual((await contentsOf(store)).toSorted(), (await contentsOf(alone)).toSorted());
}

/** What is said in a store's session, each message as it is by now. @param {string} home */
async function contentsOf(home) {
  const store = await openStore({ home, project: "/" });
  try {
    const session = await store.session({ source: SOURCE });
    const all = [];
    for await (const { content = "" } of session.messages({ allBranches: true })) all.push(content);
    return all;
  } finally {
    await store.close();
  }
}
