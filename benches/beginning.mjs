// @ts-check
/**
 * The first `create` of a process, or the first `session`: `<home> <project> <busyMs> [id]`, in Node or Bun. The
 * program is busy for `busyMs` milliseconds at each turn of its event loop. As a plugin of OpenCode: once its first
 * session is there.
 */

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const PACKAGE = new URL("../pkg/node/index.js", import.meta.url).href;

/** @param {{ home: string, project: string, id?: string, busyMs?: number }} where */
async function begin({ home, project, id, busyMs = 0 }) {
  const start = performance.now();
  const { openStore } = await import(PACKAGE);
  const endBlocks = busyMs > 0 ? block(busyMs) : () => 0;
  const store = await openStore({ home, project });
  const session = id ? await store.session(id) : await store.create();
  return { store, told: { id: session.id, ms: performance.now() - start, turns: endBlocks() } };
}

/** Is busy at each turn until it is told to end. @param {number} ms */
function block(ms) {
  let turns = 0;
  let isOn = true;
  const step = () => {
    turns += 1;
    for (const end = performance.now() + ms; performance.now() < end;);
    if (isOn) setTimeout(step);
  };
  setTimeout(step);
  return () => ((isOn = false), turns);
}

/** What OpenCode loads. */
export async function Measure() {
  const { LEFTOFF_BENCH: out = "", HOME = "" } = process.env;
  return {
    event: async (/** @type {{ event: { type: string } }} */ { event }) => {
      if (event.type !== "session.created" || existsSync(out)) return;
      writeFileSync(out, "");
      const { store, told } = await begin({ home: join(HOME, ".leftoff"), project: process.cwd() });
      writeFileSync(out, JSON.stringify(told));
      await store.close();
    },
  };
}

if (process.argv[1]?.endsWith("beginning.mjs")) {
  const [home = "", project = "", busyMs = "0", id] = process.argv.slice(2);
  const { store, told } = await begin({ home, project, id, busyMs: Number(busyMs) });
  console.log(JSON.stringify(told));
  await store.close();
}
