// @ts-check
/** A session of an agent's conversation, as long as is wanted. */

import { statSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../js/index.js";
import { conversation } from "./conversation.mjs";

const BATCH = 1000;
/** So many batches differ. */
const DISTINCT_TEXTS = 10;

/** @typedef {{ home: string, id: string, path: string }} Home `path`: the session's folder */

/**
 * A session whose log has so many bytes, and a little more.
 * @param {string} home
 * @param {number} bytes
 * @returns {Promise<Home>}
 */
export async function fillLog(home, bytes) {
  const store = await openStore({ home, project: "/", countTokens: false });
  const session = await store.create({
    agent: { command: "/brainstorm", systemPromptHash: "sha256:00", model: "another", tools: ["Read"] },
  });
  const all = conversation();
  const batches = Array.from({ length: DISTINCT_TEXTS }, () => Array.from({ length: BATCH }, () => all.next().value));
  const append = async (/** @type {number} */ n) =>
    void (await session.append(batches[n % DISTINCT_TEXTS] ?? [], { durability: "buffered" }));
  for (let n = 1; n === 1 || statSync(join(session.path, "messages.jsonl")).size < bytes; n += 1) await append(n);
  // All end alike, so that what is handed over is the same.
  await append(0);
  await store.close();
  return { home, id: session.id, path: session.path };
}

/** Has all words of its session in the index, as a search leaves it. @param {Home} home */
export async function indexWords({ home }) {
  const store = await openStore({ home, project: "/" });
  await store.search("parser").next();
  await store.close();
}
