// @ts-check
/**
 * Saves tool outputs into a home until it is killed, or as many as it is told; says each once it is saved. `node
 * saver.mjs HOME SEED [COUNT [BYTES]]`
 */

import process from "node:process";
import { openStore } from "../../js/index.js";
import { chance } from "./tools.mjs";

const [home, seed, count = "Infinity", bytes = "Infinity"] = process.argv.slice(2);
const random = chance(Number(seed));
const store = await openStore({ home, project: "/" });
let left = Number(bytes);
let peak = 0;
for (let nth = 0; nth < Number(count); nth += 1) {
  const size = Math.min(random.size(100, count === "Infinity" ? 2_000_000 : 100_000_000), Math.max(100, left / 20));
  left -= size;
  try {
    const result = `${nth} ${"a line of what a tool gave\n".repeat(size / 27)}`;
    const { path, sizeBytes } = await store.outputs.save({
      sessionId: `session-${nth % 7}`,
      toolName: "grep",
      args: { pattern: "line" },
      result,
    });
    console.log(JSON.stringify({ nth, path, sizeBytes, result: result.length }));
  } catch (error) {
    console.log(JSON.stringify({ nth, refused: /** @type {any} */ (error).code }));
  }
  if (nth % 100 === 0) globalThis.gc?.();
  peak = Math.max(peak, process.memoryUsage().rss);
}
globalThis.gc?.();
const listed = await store.outputs.list();
let small = 0;
for (const { path, sizeBytes } of listed.filter((_, nth) => nth % 97 === 0))
  small += Number(String(await store.outputs.load(path)).length + 2 <= sizeBytes);
console.log(JSON.stringify({ listed: listed.length, loaded: small, rss: process.memoryUsage().rss, peak }));
await store.close();
