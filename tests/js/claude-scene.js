// @ts-check
/** Stores of sessions for the Claude Agent SDK, in a folder that is gone afterwards, and transcripts of the real client. */

import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { sessionStore } from "../../js/claude/index.js";
import { openStore } from "../../js/index.js";

/** @import { Store } from "../../js/store/store.js" */
/** @import { ClaudeSessionEntry, ClaudeSessionStore, FoldClaudeSummary } from "../../js/types/claude.js" */
/** @typedef {{ home: string, store: Store, sessions: ClaudeSessionStore, another: () => ClaudeSessionStore }} Scene */

const FIXTURES = fileURLToPath(new URL("../fixtures/claude-code/real/", import.meta.url));
/** Transcripts of the real client. */
export const TRANSCRIPTS = readdirSync(FIXTURES, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".jsonl") && !name.includes("subagents"))
  .map((name) => join(FIXTURES, name));

/** A fold that shows what it was given. @type {FoldClaudeSummary} */
export const fold = (summary, { sessionId }, entries) => ({
  sessionId,
  mtime: summary?.mtime ?? 0,
  data: { types: [.../** @type {any} */ (summary?.data.types ?? []), ...entries.map(({ type }) => type)] },
});

/** @param {(scene: Scene) => Promise<void>} work */
export async function inScene(work) {
  const home = mkdtempSync(join(tmpdir(), "leftoff-claude-"));
  const store = await openStore({ home: join(home, ".leftoff"), project: home });
  /** @type {ClaudeSessionStore[]} */
  const all = [];
  const another = () => {
    const sessions = sessionStore({ store, foldSessionSummary: fold });
    all.push(sessions);
    return sessions;
  };
  try {
    await work({ home, store, sessions: another(), another });
  } finally {
    for (const sessions of all) await sessions.close();
    await store.close();
    rmSync(home, { recursive: true });
  }
}

/** @param {string} path @returns {ClaudeSessionEntry[]} */
export const entriesOf = (path) =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line));

/** In batches of some entries. @template T @param {T[]} all @param {number} size */
export const inBatches = (all, size) =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));
