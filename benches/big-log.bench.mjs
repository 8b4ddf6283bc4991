// @ts-check
/** What is done with a session of a million messages: the memory of the process that does it, and the time. */

import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore } from "../js/index.js";
import { inFolder, prose } from "./tools.mjs";

const LONG_LOG_MESSAGES = 1_000_000;
const SHORT_LOG_MESSAGES = 10_000;
const BATCH = 1000;
const CONTENT_BYTES = 800;
const MAX_MB = 128;
const MORE_KIB = 128;

const work = fileURLToPath(new URL("work.mjs", import.meta.url));

/** @type {import("../scripts/bench.mjs").Bench} */
export default {
  title: `a log of ${LONG_LOG_MESSAGES.toLocaleString("en")} messages, 1 GB`,
  run: () => inFolder(measure),
};

/** @param {string} folder */
async function measure(folder) {
  const [short, long] = [join(folder, "short"), join(folder, "long")];
  await fill(short, SHORT_LOG_MESSAGES);
  await fill(long, LONG_LOG_MESSAGES);
  const figures = [];
  const opened = { short: does(short, "open"), long: does(long, "open") };
  const more = (opened.long.bytesRead - opened.short.bytesRead) / 1024;
  figures.push({
    what: `opening reads more than at ${SHORT_LOG_MESSAGES.toLocaleString("en")} messages by`,
    value: more,
    unit: "KiB",
    atMost: MORE_KIB,
  });
  for (const what of ["open", "list", "last 20", "32k context", "iterate", "doctor"])
    figures.push(...toFigures(what, does(long, what)));
  for (const name of readdirSync(join(long, "cache")).filter((name) => name.endsWith(".json")))
    rmSync(join(long, "cache", name));
  figures.push(...toFigures("open without a checkpoint", does(long, "open")));
  return figures;
}

/** @param {string} what @param {{ maxMb: number, seconds: number }} done */
function toFigures(what, { maxMb, seconds }) {
  return [
    { what: `${what}: memory`, value: maxMb, unit: "MB", atMost: MAX_MB },
    { what: `${what}: time, with starting Node`, value: seconds, unit: "s" },
  ];
}

/** @param {string} home @param {number} count */
async function fill(home, count) {
  const store = await openStore({ home, project: "/" });
  const session = await store.create();
  const content = prose(CONTENT_BYTES);
  for (let at = 0; at < count; at += BATCH) {
    const drafts = Array.from({ length: BATCH }, (_, n) => ({
      role: n % 2 ? "assistant" : "user",
      content: `${at + n} ${content}`,
    }));
    await session.append(drafts, { durability: "buffered" });
  }
  await store.close();
}

/** @param {string} home @param {string} what @returns {{ maxMb: number, seconds: number, bytesRead: number }} */
function does(home, what) {
  const start = performance.now();
  const { stdout, stderr, status } = spawnSync(process.execPath, [work, home, what], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${what}: ${stderr}`);
  return { ...JSON.parse(stdout), seconds: (performance.now() - start) / 1000 };
}
