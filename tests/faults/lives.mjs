// @ts-check
/** Short lives of a store, each with another reason to be cut short. What is written is drawn by chance. */

import fs from "node:fs";
import { openStore } from "../../js/index.js";
import { LeftoffError } from "../../js/error.js";
import { chance, sha256 } from "./tools.mjs";

/** @import { Session, Store } from "../../js/index.js" */
/** @import { Recorder } from "./recorder.mjs" */
/**
 * @typedef {{ home: string, recorder: Recorder, random: ReturnType<typeof chance>, sent: Map<string, string> }} Life
 *   `sent`: hash -> session, of all that was ever appended
 */
/**
 * @typedef {{ session: string, kept?: { id: string, hash: string }[] }} ToldSession a session, and what is in it:
 *   durable
 */
/** @typedef {"durable" | "buffered"} Durability */

/** Above what stays in a line: of a text, and of an attachment. */
const LONG = 263_000;
const ATTACHED = 33_000;
/** What a reader could take for an end, a beginning or another line. */
const TRAPS = ['"}', "\\", '\n{"v":1,"id":"', "\u2028", "é", "漢", '","crc":"00000000"}\n'];

/** @type {Record<string, (life: Life) => Promise<void>>} */
export const LIVES = {
  first,
  together: appendTogether,
  two,
  again: reopen,
  torn: appendAfterTear,
  processes,
  killed: killAndRecover,
  large,
};

/** The first session of a store. @param {Life} life */
async function first(life) {
  const store = await openLife(life);
  await appendSome(life, await beginSession(life, store), 5);
  await store.close();
}

/** Appends that do not wait for each other. @param {Life} life */
async function appendTogether(life) {
  const store = await openLife(life);
  const session = await beginSession(life, store);
  await Promise.all(Array.from({ length: 6 }, () => append(life, session, [short(life)])));
  await Promise.all([append(life, session, [blob(life)]), append(life, session, [short(life)])]);
  await store.close();
}

/** Two sessions. @param {Life} life */
async function two(life) {
  const store = await openLife(life);
  const one = await beginSession(life, store);
  const other = await beginSession(life, store);
  for (let turn = 0; turn < 2; turn += 1) await Promise.all([appendSome(life, one, 2), appendSome(life, other, 2)]);
  await store.close();
}

/** Opened again, from a checkpoint: the log is long enough for one. @param {Life} life */
async function reopen(life) {
  const before = await openLife(life);
  const { id } = await beginSession(life, before);
  await append(
    life,
    await before.session(id),
    Array.from({ length: 4 }, () => ({ role: "user", content: text(life, 20_000) })),
    "buffered",
  );
  await append(life, await before.session(id), [short(life)]);
  await before.close();
  const store = await openLife(life);
  await appendSome(life, await store.session(id), 3);
  await store.close();
}

/** Others left a line behind that has no end. @param {Life} life */
async function appendAfterTear(life) {
  const before = await openLife(life);
  const session = await beginSession(life, before);
  await appendSome(life, session, 1);
  const path = `${session.path}/messages.jsonl`;
  await before.close();
  const log = fs.readFileSync(path);
  const line = log.subarray(0, log.indexOf("\n"));
  const fd = fs.openSync(path, "a");
  fs.writeSync(fd, line.subarray(0, 1 + life.random.below(line.length - 1)));
  fs.closeSync(fd);
  const store = await openLife(life);
  await appendSome(life, await store.session(session.id), 3);
  await store.close();
}

/** Two processes in one session. @param {Life} life */
async function processes(life) {
  const one = await openLife(life);
  const session = await beginSession(life, one);
  const other = await openLife(life);
  await Promise.all([
    appendSome(life, session, 3),
    other.session(session.id).then((found) => appendSome(life, found, 3)),
  ]);
  await Promise.all([one.close(), other.close()]);
}

/** A process is killed, and the next one goes on with what it finds. @param {Life} life */
async function killAndRecover(life) {
  const same = life.random.below(2) === 0 ? makeAttachment(life) : undefined;
  life.recorder.killIn(life.random.below(24));
  const before = await openLife(life);
  try {
    await appendSome(life, await beginSession(life, before), 2, same);
    await before.close();
  } catch (error) {
    if (!(error instanceof LeftoffError)) throw error;
  }
  life.recorder.revive();
  const store = await openLife(life);
  const session = await store.continue();
  await appendSome(life, session, 2, same);
  await store.close();
}

/** Long lines and blobs. @param {Life} life */
async function large(life) {
  const store = await openLife(life);
  const session = await beginSession(life, store);
  await append(life, session, [{ role: "user", content: text(life, life.random.size(100_000, 250_000)) }]);
  await append(life, session, [long(life), short(life)]);
  await append(life, session, [
    {
      role: "assistant",
      content: text(life, 50),
      assistant: { reasoning: [{ text: text(life, 150_000) }, { text: text(life, 150_000) }] },
    },
  ]);
  await append(life, session, [short(life)]);
  await store.close();
}

/** @param {Life} life */
function openLife({ home }) {
  return openStore({ home, project: "/" });
}

/** @param {Life} life @param {Store} store */
async function beginSession({ recorder }, store) {
  const session = await store.create({ title: "a title" });
  recorder.tell({ session: session.id });
  return session;
}

/** @param {Life} life @param {Session} session @param {number} count @param {object} [same] what is attached to each */
async function appendSome(life, session, count, same) {
  for (let at = 0; at < count; at += 1) {
    /** @type {any[]} */
    const drafts = Array.from({ length: 1 + life.random.below(2) }, () =>
      life.random.below(30) === 0 ? blob(life) : short(life),
    );
    if (same) drafts.push({ ...short(life), attachments: [same] });
    await append(life, session, drafts);
  }
}

/** @param {Life} life @param {Session} session @param {any[]} drafts @param {Durability} [durability] */
async function append(
  { recorder, random, sent },
  session,
  drafts,
  durability = random.below(2) === 0 ? "durable" : "buffered",
) {
  for (const draft of drafts) sent.set(fingerprint(draft), session.id);
  const { records, acknowledged } = await session.append(drafts, { durability });
  const kept = records.map(({ id }, at) => ({ id, hash: fingerprint(drafts[at]) }));
  if (acknowledged === "durable") recorder.tell({ session: session.id, kept });
}

/** @param {Life} life */
function short(life) {
  return { role: "user", content: text(life, life.random.size(50, 3000)) };
}

/** @param {Life} life */
function blob(life) {
  return { ...short(life), attachments: [makeAttachment(life)] };
}

/** @param {Life} life */
function long(life) {
  return { role: "user", content: text(life, LONG) };
}

/** @param {Life} life */
function makeAttachment(life) {
  return { mime: "text/plain", name: "a file", data: Buffer.from(text(life, ATTACHED)).toString("base64") };
}

/** The hash of all that a message says. @param {any} message */
export function fingerprint({ content, assistant, attachments }) {
  return sha256(
    JSON.stringify([content, assistant?.reasoning, attachments?.map((/** @type {any} */ one) => one.data)]),
  );
}

/** A text that no other message has. @param {Life} life @param {number} length in UTF-16 units */
function text({ sent, random }, length) {
  const head = `${sent.size} ${random.below(2 ** 30).toString(36)} `;
  let rest = "";
  while (rest.length < Math.min(length, 3000))
    rest += random.below(16) === 0 ? TRAPS[random.below(TRAPS.length)] : random.below(2 ** 30).toString(36);
  return (head + rest.repeat(Math.ceil(length / rest.length))).slice(0, Math.max(length, head.length));
}
