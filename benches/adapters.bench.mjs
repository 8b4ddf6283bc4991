// @ts-check
/** Recording a message as an agent's plugin, an SDK's store or a library is handed it, beside what cannot be avoided. */

import fs from "node:fs";
import { join } from "node:path";
import { sessionStore } from "../js/claude/index.js";
import { openStore } from "../js/index.js";
import { CHAT_MESSAGES, prepareLibraries } from "./libraries.mjs";
import { inFolder, inTurns, prose } from "./tools.mjs";

const CONTENT_BYTES = 1000;
/** How many messages a long session has. */
const LONG = 5000;
/** How many of them are recorded at once while it is made. */
const PART = 500;

/** @type {import("../scripts/bench.mjs").Bench} */
export default {
  title: `one message of ${CONTENT_BYTES} bytes, recorded by OpenCode's plugin, the agent SDKs, the AI SDK and LangChain`,
  run: () => inFolder(measure),
};

/** @param {string} folder */
async function measure(folder) {
  const store = await openStore({ home: join(folder, "home"), project: folder });
  const from = "opencode";
  const [short, long] = [await begin(store, "ses_short"), await begin(store, "ses_long")];
  for (let done = 0; done < LONG; done += PART) {
    const messages = Array.from({ length: PART }, long.next);
    await long.session.record({ info: { id: "ses_long" }, messages }, { from });
  }
  const mirror = await beginMirror(store);
  const raw = fs.openSync(join(folder, "raw"), "a");
  const flush = () => {
    fs.writeSync(raw, `${JSON.stringify(short.next())}\n`);
    fs.fdatasyncSync(raw);
  };
  const whole =
    (/** @type {typeof short} */ { session, next }) =>
    () =>
      session.record(next(), { from });
  const growing = { ...long.next(), grown: 0 };
  const cost = await inTurns(
    {
      short: { times: 10, once: whole(short) },
      long: { times: 10, once: whole(long) },
      partial: { times: 10, once: () => long.session.record(grow(growing), { from }) },
      flush: { times: 10, once: flush },
      ...mirror.cases,
    },
    { rounds: 30 },
  );
  fs.closeSync(raw);
  await mirror.sessions.close();
  const libraries = await inTurns(await prepareLibraries(store, CONTENT_BYTES), { rounds: 20 });
  await store.close();
  const { short: ofShort = NaN, long: ofLong = NaN, partial = NaN, flush: unavoidable = NaN } = cost;
  const { batch = NaN, longBatch = NaN } = cost;
  return [
    { what: "a prompt, durable", value: ofShort / 1000, unit: "ms", atMost: 2 },
    { what: `the same behind ${LONG.toLocaleString("en")} messages`, value: ofLong / 1000, unit: "ms", atMost: 2 },
    { what: "an answer that has grown, behind as many", value: partial / 1000, unit: "ms", atMost: 2 },
    { what: "a batch of the Claude Agent SDK, an entry, durable", value: batch / 1000, unit: "ms", atMost: 2 },
    { what: `the same behind ${LONG.toLocaleString("en")} entries`, value: longBatch / 1000, unit: "ms", atMost: 2 },
    { what: "JSON.stringify, writeSync and fdatasync", value: unavoidable / 1000, unit: "ms" },
    ...describeLibraries(libraries),
  ];
}

/** @param {Record<string, number>} cost @returns {import("../scripts/bench.mjs").Figure[]} */
function describeLibraries({
  answer = NaN,
  step = NaN,
  context = NaN,
  chat = NaN,
  items = NaN,
  sent = NaN,
  history = NaN,
}) {
  return [
    { what: "AI SDK: an answer, by saveAnswer", value: answer / 1000, unit: "ms", atMost: 4 },
    { what: "AI SDK: a step and its context, by contextFor", value: step / 1000, unit: "ms" },
    { what: "the same context of the session itself", value: context / 1000, unit: "ms" },
    {
      what: `AI SDK: a chat of ${CHAT_MESSAGES} messages, one of them new`,
      value: chat / 1000,
      unit: "ms",
      atMost: 30,
    },
    { what: "OpenAI Agents SDK: an item, by addItems", value: items / 1000, unit: "ms", atMost: 2 },
    { what: "OpenAI Agents SDK: the items of a call, by contextFor", value: sent / 1000, unit: "ms" },
    { what: "LangChain: a message, by addMessage", value: history / 1000, unit: "ms", atMost: 6 },
  ];
}

/**
 * Transcripts of the Claude Agent SDK, a short and a long one, and what appends the next entry to each.
 * @param {import("../js/store/store.js").Store} store
 */
async function beginMirror(store) {
  const sessions = sessionStore({ store });
  let count = 0;
  const next = (/** @type {string} */ sessionId) => {
    count += 1;
    const message = { role: "user", content: prose(CONTENT_BYTES) };
    return { type: "user", uuid: `u${count}`, parentUuid: `u${count - 1}`, sessionId, message };
  };
  const append = (/** @type {string} */ sessionId, size = 1) =>
    sessions.append(
      { projectKey: "p", sessionId },
      Array.from({ length: size }, () => next(sessionId)),
    );
  for (let done = 0; done < LONG; done += PART) await append("long", PART);
  await sessions.flush();
  const cases = {
    batch: { times: 10, once: () => append("short") },
    longBatch: { times: 10, once: () => append("long") },
  };
  return { sessions, cases };
}

/** A session, and what gives its next prompt. @param {import("../js/store/store.js").Store} store @param {string} id */
async function begin(store, id) {
  let count = 0;
  return {
    session: await store.create({ source: { agent: "opencode", id } }),
    next: () => {
      count += 1;
      const of = { sessionID: id, messageID: `msg_${String(count).padStart(6, "0")}` };
      const text = prose(CONTENT_BYTES);
      const time = { created: 1_790_000_000_000 + count * 1000 };
      return {
        info: { id: of.messageID, sessionID: id, role: "user", time },
        parts: [{ id: `prt_${count}`, ...of, type: "text", text }],
      };
    },
  };
}

/** The next state of an answer that is being said. @param {any} answer */
function grow(answer) {
  answer.grown += 1;
  const text = `${prose(CONTENT_BYTES)}${"Next. ".repeat(answer.grown)}`;
  return {
    info: { ...answer.info, role: "assistant", modelID: "gpt-5" },
    parts: [{ ...answer.parts[0], text }],
  };
}
