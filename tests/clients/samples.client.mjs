// @ts-check
// Each transcript that the project ships, imported and made into contexts, against what its file says to another
// reader.
// Tries: src/interop/, src/operation/store/import/

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/run.mjs";
import { LeftoffError, MemoryStorage, openStore } from "../../js/index.js";
import { agree, ofState } from "./agree.mjs";
import { missing } from "./facts-in-context.mjs";
import { readClaude, readNanocoder } from "./raw.mjs";

/** @import { Suite } from "../../scripts/suites.mjs" */

const WINDOWS = [8_000, 32_000, 128_000];

/** @type {Suite} */
export default {
  title: "contexts of every sample transcript name what its own file says",
  async run() {
    const sum = { files: 0, sessions: 0, changed: 0, failed: 0, open: 0, contexts: 0 };
    for (const path of samples()) {
      const file = readFileSync(path);
      const sessions = await importMessages(file);
      for (const [place, { session, isSide }] of sessions.entries()) {
        const raw = path.endsWith(".json") ? readNanocoder(file.toString()) : readClaude(file.toString(), isSide);
        const state = await session.state();
        agree(ofState(state), raw, { what: `${path}, session ${place}`, project: state.projectPath });
        for (const window of WINDOWS) {
          const { messages, strategy } = await session.context({ window });
          assert.deepEqual(missing(messages, raw, state.projectPath), [], `${path} at ${window}, by ${strategy}`);
          sum.contexts += 1;
        }
        sum.sessions += 1;
        sum.changed += raw.files.size;
        sum.failed += raw.failed.size;
        sum.open += raw.open.length;
      }
      sum.files += sessions.length > 0 ? 1 : 0;
    }
    return sum;
  },
};

function samples() {
  const below = (/** @type {string} */ agent, /** @type {RegExp} */ name) => {
    const folder = join(root, "tests", "fixtures", agent);
    return readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((path) => name.test(path))
      .sort()
      .map((path) => join(folder, path));
  };
  return [...below("claude-code", /\.jsonl$/), ...below("nanocoder", /[0-9a-f-]{36}\.json$/)];
}

/** @param {Uint8Array} file */
async function importMessages(file) {
  const storage = new MemoryStorage();
  await storage.append("/transcript", file);
  const store = await openStore({ home: "/home", project: "/", storage });
  const { imported: all } = await store.import("/transcript").catch((error) => {
    // Some are of other agents, or hold no message.
    assert.ok(error instanceof LeftoffError && ["unknown_format", "empty_file"].includes(error.code), String(error));
    return { imported: [] };
  });
  return Promise.all(
    all.map(async (one) => ({ session: await store.session(one.id), isSide: one.parent !== undefined })),
  );
}
