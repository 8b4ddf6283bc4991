// @ts-check
/** What a session takes on the disk, to what was said in it. */

import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../js/index.js";
import { LONG_SESSION, grow } from "../scripts/grow.mjs";
import { inFolder, prose } from "./tools.mjs";

/** @type {import("../scripts/bench.mjs").Bench} */
export default {
  title: "bytes on the disk to bytes of content",
  run: () =>
    inFolder(async (folder) => [
      { ...(await measureAppend(join(folder, "one"), folder, true)), atMost: 1.25 },
      await measureAppend(join(folder, "two"), folder, false),
      await measureImport(join(folder, "three"), folder),
    ]),
};

/** @param {string} home @param {string} project @param {boolean} countTokens */
async function measureAppend(home, project, countTokens) {
  const store = await openStore({ home, project, countTokens });
  const session = await store.create();
  const drafts = Array.from({ length: 1000 }, () => ({ role: "user", content: prose(1000) }));
  await session.append(drafts);
  await store.close();
  const what = `1,000 messages of 1,000 bytes, ${countTokens ? "counted" : "not counted"}`;
  return { what, value: bytesIn(session.path) / (1000 * 1000), unit: "times" };
}

/** @param {string} home @param {string} project */
async function measureImport(home, project) {
  const file = join(project, "long.jsonl");
  writeFileSync(file, grow(LONG_SESSION));
  const store = await openStore({ home, project });
  const {
    imported: [one],
  } = await store.import(file);
  const session = await store.session(/** @type {{ id: string }} */ (one).id);
  let said = 0;
  for await (const { content, assistant } of session.messages()) {
    const texts = [
      content,
      ...(assistant?.reasoning ?? []).map((one) => one.text),
      ...(assistant?.toolCalls ?? []).map((one) => one.arguments),
    ];
    for (const text of texts) said += Buffer.byteLength(text);
  }
  await store.close();
  return { what: "a transcript of Claude Code, 1,000 messages", value: bytesIn(session.path) / said, unit: "times" };
}

/** @param {string} folder */
function bytesIn(folder) {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.map((name) => statSync(join(folder, name))).reduce((sum, one) => sum + (one.isFile() ? one.size : 0), 0);
}
