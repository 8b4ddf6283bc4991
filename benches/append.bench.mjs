// @ts-check
/** Appending one message, beside what it cannot do without and what others do. */

import fs from "node:fs";
import { join } from "node:path";
import { openStore } from "../js/index.js";
import { inFolder, inTurns, prose } from "./tools.mjs";

const CONTENT_BYTES = 1000;
/** How many appends wait together, as where answers come in from several sides. */
const TOGETHER = 100;

/** @type {import("../scripts/bench.mjs").Bench} */
export default {
  title: `one message of ${CONTENT_BYTES} bytes, counting off`,
  run: () => inFolder(measure),
};

/** @param {string} folder */
async function measure(folder) {
  const draft = { role: "user", content: prose(CONTENT_BYTES) };
  const store = await openStore({ home: join(folder, "home"), project: folder, countTokens: false });
  const [buffered, durable] = [await store.create(), await store.create()];
  const open = (/** @type {string} */ name) => fs.openSync(join(folder, name), "a");
  const [raw, synced] = [open("raw"), open("synced")];
  const line = () => `${JSON.stringify(draft)}\n`;
  const ours = { times: 1000, once: () => buffered.append(draft, { durability: "buffered" }) };
  const appendFile = () => fs.promises.appendFile(join(folder, "appended"), line());
  const flush = () => { fs.writeSync(synced, line()); fs.fdatasyncSync(synced); };
  const cost = await inTurns({ ours, writeSync: { times: 1000, once: () => fs.writeSync(raw, line()) } }, { rounds: 40 });
  const others = await inTurns({ ours, appendFile: { times: 300, once: appendFile } }, { rounds: 20 });
  const flushed = await inTurns({ ours: { times: 10, once: () => durable.append(draft) }, fdatasync: { times: 10, once: flush } }, { rounds: 40 });
  const together = (/** @type {() => Promise<unknown>} */ once) => ({ times: 1, once: () => Promise.all(Array.from({ length: TOGETHER }, once)) });
  const groups = await inTurns(
    { buffered: together(ours.once), durable: together(() => durable.append(draft)), appendFile: together(appendFile), flushes: { times: TOGETHER, once: flush } },
    { rounds: 10 },
  );
  await store.close();
  return [
    { what: "buffered, to JSON.stringify and writeSync", value: ratio(cost.ours, cost.writeSync), unit: "times", atMost: 5 },
    { what: "fs.promises.appendFile, to buffered", value: ratio(others.appendFile, others.ours), unit: "times", atLeast: 8 },
    { what: "durable, to writeSync and fdatasync", value: ratio(flushed.ours, flushed.fdatasync), unit: "times", atMost: 1.25 },
    { what: "buffered", value: cost.ours ?? NaN, unit: "us" },
    { what: "fs.promises.appendFile", value: others.appendFile ?? NaN, unit: "us" },
    { what: "JSON.stringify and writeSync", value: cost.writeSync ?? NaN, unit: "us" },
    { what: "durable", value: flushed.ours ?? NaN, unit: "us" },
    { what: "writeSync and fdatasync", value: flushed.fdatasync ?? NaN, unit: "us" },
    { what: `${TOGETHER} that wait together, buffered, each`, value: ratio(groups.buffered, TOGETHER), unit: "us" },
    { what: `${TOGETHER} fs.promises.appendFile together, each`, value: ratio(groups.appendFile, TOGETHER), unit: "us" },
    { what: `${TOGETHER} that wait together, durable, each`, value: ratio(groups.durable, TOGETHER), unit: "us" },
    { what: `${TOGETHER} writeSync and fdatasync, in turn, each`, value: groups.flushes ?? NaN, unit: "us" },
  ];
}

/** @param {number | undefined} a @param {number | undefined} b */
function ratio(a = NaN, b = NaN) {
  return a / b;
}
