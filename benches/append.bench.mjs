// @ts-check
/** Appending one message, beside what it cannot do without and what others do. */

import fs from "node:fs";
import { join } from "node:path";
import { openStore } from "../js/index.js";
import { inFolder, inTurns, prose } from "./tools.mjs";

const CONTENT_BYTES = 1000;

/** @type {import("../scripts/bench.mjs").Bench} */
export default {
  title: `one message of ${CONTENT_BYTES} bytes, counting off`,
  run: () => inFolder(measure),
};

/** @param {string} folder */
async function measure(folder) {
  const draft = { role: "user", content: prose(CONTENT_BYTES) };
  const store = await openStore({ home: join(folder, "home"), project: folder, isCounted: false });
  const [buffered, durable] = [await store.create(), await store.create()];
  const open = (/** @type {string} */ name) => fs.openSync(join(folder, name), "a");
  const [raw, synced] = [open("raw"), open("synced")];
  const line = () => `${JSON.stringify(draft)}\n`;
  const ours = { times: 300, once: () => buffered.append(draft, { durability: "buffered" }) };
  const cost = await inTurns({ ours, writeSync: { times: 300, once: () => fs.writeSync(raw, line()) } }, { rounds: 60 });
  const others = await inTurns(
    { ours, appendFile: { times: 100, once: () => fs.promises.appendFile(join(folder, "appended"), line()) } },
    { rounds: 30 },
  );
  const flushed = await inTurns(
    {
      ours: { times: 10, once: () => durable.append(draft) },
      fdatasync: { times: 10, once: () => { fs.writeSync(synced, line()); fs.fdatasyncSync(synced); } },
    },
    { rounds: 40 },
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
  ];
}

/** @param {number | undefined} a @param {number | undefined} b */
function ratio(a = NaN, b = NaN) {
  return a / b;
}
