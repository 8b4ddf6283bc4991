// @ts-check
/**
 * Records a session of OpenCode as its plugin does, from the message `from` on: each answer grows before it is whole.
 * Says of each state that was acknowledged which message it is of, and how long that was.
 * Arguments: the store's folder, the number of messages, and `from`.
 */

import { writeSync } from "node:fs";
import { openStore } from "../../js/index.js";
import { SOURCE, messageAt, statesOf } from "./live-session.mjs";

const [home = "", count = "0", from = "0"] = process.argv.slice(2);
const store = await openStore({ home, project: "/" });
const session = await store.create({ source: SOURCE });
for (let place = Number(from); place < Number(count); place += 1) {
  for (const message of statesOf(messageAt(place))) {
    await session.record(message, { from: SOURCE.agent });
    writeSync(1, `${JSON.stringify([place, message.parts[0]?.text.length])}\n`);
  }
}
await store.close();
