// @ts-check
/**
 * Lists, appends and compacts the index again and again: `<home> <project> <rounds> <number>`. Says what it appended.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { openStore } from "../../js/index.js";

const [home = "", project = "", rounds = "", number = ""] = process.argv.slice(2);
const index = join(home, "sessions", "index.jsonl");
const lines = `${'{"v":1,"path":"nowhere"}\n'.repeat(2000)}`;

for (let round = 0; round < Number(rounds); round += 1) {
  const store = await openStore({ home, project, idleMs: Infinity });
  const all = await store.list({ all: true, type: null, archived: null });
  const own = all.filter(({ placement }) => placement === "home");
  // All of them append to the same ones.
  const one = own.sort((a, b) => (a.path < b.path ? -1 : 1))[round % 5];
  assert.ok(one && all.length >= 30, `${all.length} sessions`);
  const session = await store.session(one.id);
  await session.append({ role: "user", content: `from ${number}, in round ${round}` }, { durability: "buffered" });
  const after = await store.list({ all: true, type: null, archived: null });
  const now = after.find(({ path }) => path === one.path);
  assert.ok(now && now.messageCount > one.messageCount, "its own message is in the list");
  assert.equal(after.length, all.length);
  // So many are stale that the next list compacts it.
  if (round % 3 === 0) fs.appendFileSync(index, lines);
  console.log(JSON.stringify({ id: one.id, count: now.messageCount }));
  await store.close();
}
