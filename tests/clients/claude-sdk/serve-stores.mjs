// @ts-check
/**
 * Serves stores of sessions: on each line of its input a request, `{"store","method","given"}`, JSON, and on each of its
 * output what became of it. Stores that have different numbers share nothing.
 * Arguments: a folder for them, and the SDK's file.
 */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { sessionStore } from "../../../js/claude/index.js";
import { openStore } from "../../../js/index.js";

const [folder = "", sdk = ""] = process.argv.slice(2);
const { foldSessionSummary } = await import(sdk);
/** @type {Map<number, { store: import("../../../js/index.js").Store, sessions: any }>} */
const opened = new Map();

for await (const line of createInterface({ input: process.stdin })) {
  const { store: number, method, given } = JSON.parse(line);
  const answer = await call(number, method, given).then(
    (result) => ({ result }),
    (error) => ({ error: String(error?.stack) }),
  );
  console.log(JSON.stringify(answer));
}
for (const { store, sessions } of opened.values()) {
  await sessions.close();
  await store.close();
}

/** @param {number} number @param {string} method @param {any[]} given */
async function call(number, method, given) {
  const { sessions } = opened.get(number) ?? (await open(number));
  return sessions[method](...given);
}

/** @param {number} number */
async function open(number) {
  const project = join(folder, String(number));
  mkdirSync(project);
  const store = await openStore({ home: join(project, ".leftoff"), project });
  const made = { store, sessions: sessionStore({ store, foldSessionSummary }) };
  opened.set(number, made);
  return made;
}
