// @ts-check
/** Appending one message, beside what it cannot do without and what others do. */

import fs from "node:fs";
import { join } from "node:path";
import { openStore } from "../js/index.js";
import { inFolder, inTurns, prose } from "./tools.mjs";

const CONTENT_BYTES = 1000;
/** How many appends wait together, as where answers come in from several sides. */
const BATCH_MESSAGES = 100;
/** How many calls an answer makes, whose results are told one after another. */
const CALLS = 10;

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
  const flush = () => {
    fs.writeSync(synced, line());
    fs.fdatasyncSync(synced);
  };
  const cost = await inTurns(
    { ours, writeSync: { times: 1000, once: () => fs.writeSync(raw, line()) } },
    { rounds: 40 },
  );
  const others = await inTurns({ ours, appendFile: { times: 300, once: appendFile } }, { rounds: 20 });
  const flushed = await inTurns(
    { ours: { times: 10, once: () => durable.append(draft) }, fdatasync: { times: 10, once: flush } },
    { rounds: 40 },
  );
  const together = (/** @type {() => Promise<unknown>} */ once) => ({
    times: 1,
    once: () => Promise.all(Array.from({ length: BATCH_MESSAGES }, once)),
  });
  const groups = await inTurns(
    {
      buffered: together(ours.once),
      durable: together(() => durable.append(draft)),
      appendFile: together(appendFile),
      flushes: { times: BATCH_MESSAGES, once: flush },
    },
    { rounds: 10 },
  );
  const tools = await ofTools(store, { raw, synced });
  await store.close();
  return [
    {
      what: "buffered, to JSON.stringify and writeSync",
      value: ratio(cost.ours, cost.writeSync),
      unit: "times",
      atMost: 5,
    },
    {
      what: "fs.promises.appendFile, to buffered",
      value: ratio(others.appendFile, others.ours),
      unit: "times",
      atLeast: 8,
    },
    {
      what: "durable, to writeSync and fdatasync",
      value: ratio(flushed.ours, flushed.fdatasync),
      unit: "times",
      atMost: 1.25,
    },
    { what: "buffered", value: cost.ours ?? NaN, unit: "us" },
    { what: "fs.promises.appendFile", value: others.appendFile ?? NaN, unit: "us" },
    { what: "JSON.stringify and writeSync", value: cost.writeSync ?? NaN, unit: "us" },
    { what: "durable", value: flushed.ours ?? NaN, unit: "us" },
    { what: "writeSync and fdatasync", value: flushed.fdatasync ?? NaN, unit: "us" },
    {
      what: `${BATCH_MESSAGES} that wait together, buffered, each`,
      value: ratio(groups.buffered, BATCH_MESSAGES),
      unit: "us",
    },
    {
      what: `${BATCH_MESSAGES} fs.promises.appendFile together, each`,
      value: ratio(groups.appendFile, BATCH_MESSAGES),
      unit: "us",
    },
    {
      what: `${BATCH_MESSAGES} that wait together, durable, each`,
      value: ratio(groups.durable, BATCH_MESSAGES),
      unit: "us",
    },
    { what: `${BATCH_MESSAGES} writeSync and fdatasync, in turn, each`, value: groups.flushes ?? NaN, unit: "us" },
    ...tools,
  ];
}

/**
 * What a tool did, told by `appendTool`, which is always durable: its result and how it went, a line in each of two
 * logs. Beside it these two lines written and flushed, and the result alone, as a message.
 * @param {import("../js/index.js").Store} store @param {{ raw: number, synced: number }} files
 * @returns {Promise<import("../scripts/bench.mjs").Figure[]>}
 */
async function ofTools(store, { raw, synced }) {
  const [told, durable, buffered] = [await calling(store), await calling(store), await calling(store)];
  const content = prose(CONTENT_BYTES);
  const result = (id = "call") => ({ role: "tool", content, tool: { callId: id, name: "bash" } });
  const execution = (id = "call") => ({
    call: { id, name: "bash" },
    result: { content, exitCode: 0 },
    durationMs: 810,
  });
  const flush = () => {
    for (const [file, line] of /** @type {[number, object][]} */ ([
      [synced, result()],
      [raw, { ...execution(), result: { exitCode: 0 } }],
    ])) {
      fs.writeSync(file, `${JSON.stringify(line)}\n`);
      fs.fdatasyncSync(file);
    }
  };
  const cost = await inTurns(
    {
      told: { times: CALLS, once: () => told.session.appendTool(execution(told.next())), after: told.answers },
      flushes: { times: CALLS, once: flush },
      durable: { times: CALLS, once: () => durable.session.append(result(durable.next())), after: durable.answers },
      buffered: {
        times: CALLS,
        once: () => buffered.session.append(result(buffered.next()), { durability: "buffered" }),
        after: buffered.answers,
      },
    },
    { rounds: 40 },
  );
  return [
    {
      what: "appendTool, to its two lines written and flushed",
      value: ratio(cost.told, cost.flushes),
      unit: "times",
      atMost: 14,
    },
    {
      what: "appendTool, to its result alone, durable",
      value: ratio(cost.told, cost.durable),
      unit: "times",
      atMost: 14,
    },
    { what: "appendTool", value: cost.told ?? NaN, unit: "us" },
    { what: "two lines, writeSync and fdatasync of each", value: cost.flushes ?? NaN, unit: "us" },
    { what: "its result alone, durable", value: cost.durable ?? NaN, unit: "us" },
    { what: "its result alone, buffered", value: cost.buffered ?? NaN, unit: "us" },
  ];
}

/**
 * A session whose newest answer makes calls: those of a round, and then others.
 * @param {import("../js/index.js").Store} store
 */
async function calling(store) {
  const session = await store.create();
  /** @type {string[]} */
  let ids = [];
  let rounds = 0;
  const answers = async () => {
    rounds += 1;
    ids = Array.from({ length: CALLS }, (_, n) => `call_${rounds}_${n}`);
    const toolCalls = ids.map((id) => ({ id, name: "bash", arguments: '{"command":"npm test"}' }));
    await session.append({ role: "assistant", assistant: { toolCalls } }, { durability: "buffered" });
  };
  await answers();
  return { session, answers, next: () => ids.shift() };
}

/** @param {number | undefined} a @param {number | undefined} b */
function ratio(a = NaN, b = NaN) {
  return a / b;
}
