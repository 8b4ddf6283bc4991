// @ts-check
/** What the first list costs, which makes the index and pauses what was left active; and one session among many. */

import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../js/index.js";
import { uuidOf, template } from "../tests/js/many-sessions.js";
import { inFolder, inTurns } from "./tools.mjs";

const SESSIONS = 1000;
const FEW_SESSIONS = 10;
const MANY_SESSIONS = 10_000;
const MESSAGES = 6;
const HOUR_MS = 3_600_000;

/** @type {import("../scripts/bench.mjs").Bench} */
export default {
  title: `the first list of ${SESSIONS.toLocaleString("en")} sessions in the home, and one of ${MANY_SESSIONS.toLocaleString("en")} opened`,
  run: () => inFolder(measure),
};

/** @param {string} folder */
async function measure(folder) {
  const paused = await makeHome(join(folder, "paused"), SESSIONS, { isActive: false });
  const active = await makeHome(join(folder, "active"), SESSIONS, { isActive: true });
  const [few, many] = [
    await makeHome(join(folder, "few"), FEW_SESSIONS, { isActive: false }),
    await makeHome(join(folder, "many"), MANY_SESSIONS, { isActive: false }),
  ];
  for (const home of [few, many]) await listAll(home);
  const once = (/** @type {() => unknown} */ work, /** @type {() => unknown} */ after = () => {}) => ({
    times: 1,
    once: work,
    after,
  });
  const ms = (/** @type {number} */ us) => ({ value: us / 1000, unit: "ms" });
  const first = await inTurns(
    {
      plain: once(() => paused.paths.forEach(readAll)),
      paused: once(
        () => listAll(paused),
        () => rmSync(join(paused.home, "sessions", "index.jsonl")),
      ),
      active: once(() => listAll(active)),
      next: once(
        () => listAll(active),
        () => active.again(),
      ),
    },
    { rounds: 3 },
  );
  const one = await inTurns(
    {
      few: { times: 10, once: () => openOne(few) },
      many: { times: 10, once: () => openOne(many) },
      fewCurrent: { times: 10, once: () => current(few) },
      manyCurrent: { times: 10, once: () => current(many) },
    },
    { rounds: 9 },
  );
  const { plain = NaN, paused: rested = NaN, active: left = NaN, next = NaN } = first;
  const { few: byFew = NaN, many: byMany = NaN, fewCurrent = NaN, manyCurrent = NaN } = one;
  return [
    { what: "first list, to readFileSync and JSON.parse of all files", value: rested / plain, unit: "times" },
    { what: "first list where all were left active, to that", value: left / rested, unit: "times", atMost: 8 },
    { what: "the next list after that, to the first", value: next / left, unit: "times", atMost: 0.2 },
    { what: `by its id, of ${MANY_SESSIONS} to of ${FEW_SESSIONS}`, value: byMany / byFew, unit: "times" },
    {
      what: `by the project's pointer, of ${MANY_SESSIONS} to of ${FEW_SESSIONS}`,
      value: manyCurrent / fewCurrent,
      unit: "times",
      atMost: 1.5,
    },
    { what: "readFileSync and JSON.parse of all files", ...ms(plain) },
    { what: "first list", ...ms(rested) },
    { what: "first list where all were left active", ...ms(left) },
    { what: "the next list after that", ...ms(next) },
    { what: `by its id, of ${MANY_SESSIONS}`, ...ms(byMany) },
    { what: `by the project's pointer, of ${MANY_SESSIONS}`, ...ms(manyCurrent) },
  ];
}

/** @typedef {Awaited<ReturnType<typeof makeHome>>} MadeHome */

/** @param {MadeHome} made */
async function listAll({ home, folder, paths }) {
  const store = await openStore({ home, project: folder });
  const { length } = await store.list({ all: true });
  await store.close();
  if (length !== paths.length) throw new Error(`expected ${paths.length} sessions, but found ${length} instead`);
}

/** @param {MadeHome} made */
async function openOne({ home, folder, id }) {
  const store = await openStore({ home, project: folder });
  await store.session(id);
  await store.close();
}

/** @param {MadeHome} made */
async function current({ home, folder }) {
  const store = await openStore({ home, project: folder });
  await store.current();
  await store.close();
}

/** @param {string} path */
function readAll(path) {
  for (const name of ["events.jsonl", "messages.jsonl"])
    for (const line of readFileSync(join(path, name), "utf8").split("\n")) if (line) JSON.parse(line);
  JSON.parse(readFileSync(join(path, "metadata.json"), "utf8"));
}

/** @param {string} folder @param {number} count @param {{ isActive: boolean }} how */
async function makeHome(folder, count, { isActive }) {
  const home = join(folder, "home");
  mkdirSync(folder);
  const store = await openStore({ home, project: folder, countTokens: false, idleMs: Infinity });
  const session = await store.create({ title: "the one that the others are copies of", model: "gpt-5" });
  for (let n = 0; n < MESSAGES; n += 1)
    await session.append({ role: n % 2 ? "assistant" : "user", content: `message ${n}` });
  if (!isActive) await session.stop({ summary: "as far as it went" });
  await store.close();
  const { write, parent } = template(session);
  const paths = [session.path];
  const at = (/** @type {number} */ n) => Date.now() - HOUR_MS - ((n * 7919) % count) * 1000;
  for (let n = 1; n < count; n += 1) paths.push(join(parent, `session-${uuidOf(n)}`));
  /** They are as they were, and in no index. */
  const again = () => {
    rmSync(join(home, "sessions", "index.jsonl"), { force: true });
    for (let n = 1; n < count; n += 1)
      write({ path: paths[n] ?? "", id: uuidOf(n), at: at(n), title: `session ${n}, about something` });
  };
  again();
  return { home, folder, id: session.id, paths, again };
}
