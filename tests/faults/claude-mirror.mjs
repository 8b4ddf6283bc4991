// @ts-check
/**
 * Mirrors a session of the Claude Agent SDK, from the batch `from` on: in each a prompt and a title, which has no uuid.
 * Says of each batch that was acknowledged which one it is.
 * Arguments: the store's folder, who writes, the number of batches, and `from`.
 */

import { writeSync } from "node:fs";
import { sessionStore } from "../../js/claude/index.js";
import { openStore } from "../../js/index.js";
import { KEY, batchOf } from "./claude-entries.mjs";

const [home = "", by = "", count = "0", from = "0"] = process.argv.slice(2);
const store = await openStore({ home, project: "/" });
const sessions = sessionStore({ store });
for (let place = Number(from); place < Number(count); place += 1) {
  await sessions.append(KEY, batchOf(by, place));
  writeSync(1, `${place}\n`);
}
await sessions.close();
await store.close();
