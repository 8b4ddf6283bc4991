// @ts-check
// Shows the main job on real input: imports two transcripts, closes and reopens the store, makes a context and a resume
// block.

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { openStore } from "../js/index.js";
import { LONG_SESSION, grow } from "./grow.mjs";
import { root } from "./run.mjs";

const WINDOW = 8_000;

const home = mkdtempSync(join(tmpdir(), "leftoff-demo-"));
const real = join(
  root,
  "tests",
  "fixtures",
  "claude-code",
  "real",
  "2.1.329",
  "a1ec06f7-8d81-4715-aba2-72b09c413bbd.jsonl",
);
const long = join(home, "long.jsonl");
writeFileSync(long, grow(LONG_SESSION));

let store = await openStore({ home, project: root });
const ids = [];
for (const path of [real, long]) {
  const { imported, problems } = await store.import(path);
  for (const one of imported) {
    console.log(
      `imported ${one.id}: ${one.messageCount} messages of ${one.agent}, ${one.losses.length} kinds of records and fields not taken over, ${problems.length} problems`,
    );
  }
  ids.push(imported[0].id);
}
await store.close();

store = await openStore({ home, project: root });
for (const id of ids) {
  const session = await store.session(id);
  const { block, context } = await session.resume({ window: WINDOW });
  console.log(`\n${block}`);
  console.log(`strategy: ${context.strategy}`);
  console.log(
    `budget: ${context.tokensUsed} of ${context.tokenBudget} tokens (window ${WINDOW}, a quarter of it kept for the answer)`,
  );
  console.log(
    `messages: ${context.includedMessageCount} of ${context.originalMessageCount}; ${context.report.bytesRead} bytes of the log were read`,
  );
  for (const [which, at] of /** @type {const} */ ([
    ["first", 0],
    ["last", -1],
  ])) {
    const message = context.messages.at(at);
    console.log(`${which}: ${message?.role}: ${message?.content.replace(/\s+/g, " ").slice(0, 100)}`);
  }
}
await store.close();
console.log(`\nThe store is ${home}. Try: node js/cli/index.js list --all --home ${home}`);
