// @ts-check
/**
 * Says a question and its answer by a transaction each, from the one of number `from` on. Says of each that was
 * acknowledged which one it was. Arguments: the store's folder, the name of who asks, how many, and `from`.
 */

import { writeSync } from "node:fs";
import { openStore } from "../../js/index.js";
import { session } from "../../js/openai/index.js";

const [home = "", name = "", count = "0", from = "0"] = process.argv.slice(2);
const store = await openStore({ home, project: "/" });
const memory = session({ store, id: "chat" });
for (let number = Number(from); number < Number(count); number += 1) {
  const items = [
    { role: "user", content: `${name} ${number}?` },
    { role: "assistant", content: [{ type: "output_text", text: `${name} ${number}.` }] },
  ];
  await memory.applyHistoryTransaction({
    operationId: `${name} ${number}`,
    transaction: { type: "append_items", items },
  });
  writeSync(1, `${number}\n`);
}
await store.close();
