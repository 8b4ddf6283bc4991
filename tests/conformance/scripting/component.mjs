// @ts-check
/** The component under scripts: what each operation is in its interfaces, by the host of tests/component. */

import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { entropy, nowMs, offsetMinutes } from "../../../js/wasm/clock.js";
import { realPath } from "../../../js/storage/real-path.js";
import { Host, bytesOf, know, refusal, texts as plain, vocabularyOf } from "../../component/host.mjs";
import { given } from "./given.mjs";

/** @import { Surface } from "./host.mjs" */
/** @import { Stamps } from "./stamps.mjs" */

/** @typedef {{ host: Host, session: any, own: Record<string, (asked: any) => any>, asked: any }} Given */

for (const encoding of ["o200k_base", "cl100k_base"]) know(fileURLToPath(new URL(`../../../pkg/${encoding}.planes`, import.meta.url)));

/** A moment, and chance. */
function moment() {
  const chance = Buffer.from(entropy());
  return { nowMs: BigInt(nowMs()), offsetMinutes: offsetMinutes(), entropy: [0, 8, 16, 24].map((at) => chance.readBigUInt64BE(at)) };
}

/** What needs no session. @type {Record<string, (asked: any) => unknown>} */
const PLAIN = {
  countTokens: ({ text, encoding, model, limit }) => {
    const name = plain.encodingOf(encoding, model);
    const count = (/** @type {string} */ one) => vocabularyOf(name)?.count(one, limit) ?? plain.estimate(one);
    return Array.isArray(text) ? text.map(count) : count(text);
  },
  listText: ({ listed }) => plain.listText(JSON.stringify(listed), moment()),
  compareContexts: ({ before, after }) => JSON.parse(plain.compareContexts(JSON.stringify(before), JSON.stringify(after))),
  findStopPhrase: ({ text }) => plain.findStopPhrase(text),
  historyText: ({ messages }) => plain.historyText(JSON.stringify(messages), moment()),
  modelOf: ({ name }) => JSON.parse(plain.modelOf(name) ?? "null"),
};

/** What the component is asked for each operation, and what its answer is in JavaScript. @type {Record<string, (given: Given) => unknown>} */
const OF_SESSIONS = {
  append: async ({ host, session, asked: { messages, format = "leftoff", durability = "durable", revives = true, operation, expected } }) => {
    const [json, options] = [JSON.stringify(messages), { format, durable: durability === "durable", revives }];
    const isAny = operation !== undefined || expected !== undefined;
    const lines = await host.run(isAny ? session.appendOnce(json, options, JSON.stringify({ operation, expected })) : session.append(json, options));
    const records = lines.split("\n").filter(Boolean).map((/** @type {string} */ line) => JSON.parse(line));
    for (const record of records) for (const key of ["v", "crc"]) delete record[key];
    return { acknowledged: durability, records };
  },
  appendTool: async ({ host, session, asked }) => {
    const { lines, ...told } = JSON.parse(await host.run(session.appendTool(JSON.stringify(asked.execution))));
    return told;
  },
  archive: (given) => said(given, { type: "archived" }),
  brief: ({ host, session, asked }) => json(host.run(session.brief(JSON.stringify({ maxTokens: 2000, encoding: "o200k_base", ...asked })))),
  closeSession: ({ host, session }) => closed(host, session),
  compact: ({ host, session, own, asked: { apply, undo, keep, ...request } }) => json(host.run(session.compact(JSON.stringify({ ...made(request), apply, undo, keep })), own)),
  complete: (given) => becomes(given, "completed"),
  context: ({ host, session, own, asked }) => json(host.run(session.context(JSON.stringify(made(asked))), own)),
  export: ({ host, session, asked: { format = "json", allBranches } }) => texts(host, session.export(JSON.stringify({ format, allBranches }))).then((pieces) => pieces.join("")),
  examine: ({ host, session }) => json(host.run(session.examine())),
  flush: ({ host, session }) => done(host.run(session.flush())),
  lastContext: ({ host, session }) => json(host.run(session.lastContext())),
  messages: ({ host, session, asked: { most, ...reading } }) => messages(host, session, reading).then((all) => all.slice(0, most)),
  metadata: ({ session }) => JSON.parse(session.metadata()),
  others: ({ host, session }) => json(host.run(session.others())).then((others) => others.length),
  pause: (given) => becomes(given, "paused"),
  pin: (given) => said(given, { type: "pin", messageId: String(given.asked.messageId) }),
  pins: ({ host, session }) => json(host.run(session.pins())),
  refresh: ({ host, session }) => done(host.run(session.refresh())),
  rename: (given) => said(given, { type: "title", title: given.asked.title }),
  resume: async ({ host, session, own, asked }) => {
    const { override, revives, now, maxBytes, ...request } = asked;
    const about = { override, revives, now, maxBytes, idleMs: host.idleMs };
    const { id, command, block, context, warnings, notices: _, ...told } = await json(host.run(session.resume(JSON.stringify({ ...made(request), ...about })), own));
    return { id, command, block, history: context.messages, warnings, context, ...told };
  },
  setAgent: (given) => said(given, { type: "agent", agent: given.asked.agent ?? null }),
  state: ({ host, session }) => json(host.run(session.state())),
  stop: (given) => becomes(given, "paused"),
  summaryOf: ({ host, session, asked }) => json(host.run(session.summarize(JSON.stringify(asked)))),
  toolExecutions: ({ host, session }) => json(host.run(session.tools())),
  unarchive: (given) => said(given, { type: "unarchived" }),
  unpin: (given) => said(given, { type: "unpin", messageId: given.asked.messageId }),
};

/** @param {Host} host @param {any} session */
async function closed(host, session) {
  await host.run(session.close());
  host.store.forget(session);
}

/** @type {Record<string, (given: Given) => unknown>} */
const OF_STORES = {
  delete: async ({ host, session, asked: { purge = false } }) => {
    return { trash: await json(host.run(host.store.delete(session, purge))) };
  },
  doctor: ({ host, asked }) => json(host.run(host.store.doctor(JSON.stringify(asked)))),
  find: async ({ host, asked: { words, ...request } }) => JSON.parse(plain.found(words, await host.run(host.store.list(JSON.stringify(request))))),
  search: async ({ host, asked: { words, most, ...request } }) => (await texts(host, host.store.search(words, JSON.stringify(request)))).flatMap((page) => JSON.parse(page)).slice(0, most),
  list: ({ host, asked }) => json(host.run(host.store.list(JSON.stringify(asked)))),
  mend: async ({ host, session }) => {
    await host.run(session.flush());
    return (await json(host.run(host.store.mend(session)))) ?? undefined;
  },
  notices: ({ host }) => JSON.parse(host.store.notices() || "[]"),
  point: ({ host, session }) => json(host.run(host.store.point(session))),
  relocate: async ({ host, asked: { from, to } }) => {
    const [old, path] = [resolve(from), realPath(to)];
    return { count: await json(host.run(host.store.relocate(old.normalize("NFC"), path, path.normalize("NFC")))) };
  },
  secrets: ({ host }) => JSON.parse(host.store.secrets()),
  listSettings: async ({ host }) => (await json(host.run(host.store.settings()))).all,
  settings: async ({ host }) => {
    const { all: _, ...told } = await json(host.run(host.store.settings()));
    return told;
  },
  tidy: ({ host, asked }) => json(host.run(host.store.tidy(JSON.stringify(asked.limits ?? null)))),
  unsetSetting: ({ host, asked: { key, project = false } }) => done(host.run(host.store.writeSetting(key, undefined, project))),
  writeSetting: ({ host, asked: { key, value, project = false } }) => done(host.run(host.store.writeSetting(key, JSON.stringify(value) ?? "null", project))),
};

/** Those that end with a session. @type {Record<string, (given: Given) => Promise<any>>} */
const OPENING = {
  continue: async ({ host, asked }) => {
    const last = await host.run(host.store.goesOn());
    if (last === "null") return host.run(host.store.create(JSON.stringify(asked)));
    await host.run(last.open());
    await host.run(host.store.point(last));
    return last;
  },
  create: ({ host, asked }) => host.run(host.store.create(JSON.stringify(asked))),
  current: async ({ host }) => {
    const found = await host.run(host.store.current());
    return found === "null" ? undefined : found;
  },
  fork: ({ host, session, asked }) => host.run(host.store.fork(session, JSON.stringify(asked))),
  move: ({ host, session, asked }) => host.run(host.store.move(session, JSON.stringify(asked))),
  open: async ({ host, asked: { id } }) => {
    const placed = await host.run(host.store.find(id, "placed"));
    if (placed !== "null") await host.run(placed.open());
    return placed !== "null" && placed.id() === id ? placed : host.run(host.store.find(id, "listed"));
  },
};

/** @param {any} session */
const placementOf = (session) => (session.path().endsWith(".session") ? "workspace" : "home");
/** @param {Promise<string>} answer */
const json = async (answer) => JSON.parse(await answer);
/** @param {Promise<string>} answer */
const done = async (answer) => void (await answer);
/** @param {Given} given @param {object[]} events */
const said = ({ host, session }, ...events) => done(host.run(session.say(JSON.stringify(events))));
/** @param {Given} given @param {string} status */
const becomes = (given, status) => said(given, ...(given.asked.summary === undefined ? [] : [{ type: "summary", summary: given.asked.summary }]), { type: "status", status });

/** @param {Host} host @param {any} operation that gives pages */
async function texts(host, operation) {
  /** @type {string[]} */
  const pages = [];
  await host.run(operation, { page: (content) => void pages.push(Buffer.from(bytesOf(content)).toString()) });
  return pages;
}

/** @param {Host} host @param {any} session @param {object} reading @returns {Promise<any[]>} */
async function messages(host, session, reading) {
  return (await texts(host, session.messages(JSON.stringify(reading)))).flatMap((page) => JSON.parse(page));
}

/** A request without what its caller does. @param {any} asked */
function made({ summarize, count, strategies, ...request }) {
  const named = strategies?.map?.((/** @type {any} */ { name, priority, minTokens }) => ({ name, priority, minTokens }));
  return { request: { ...request, strategies: named ?? strategies }, summarizes: summarize !== undefined };
}

/** What its caller does. @param {Host} host @param {any} session @param {any} asked @returns {Given["own"]} */
function helped(host, session, { summarize, count, strategies }) {
  const text = async (/** @type {() => unknown} */ work) => {
    try {
      return { tag: "text", val: JSON.stringify((await work()) ?? {}) };
    } catch (/** @type {any} */ error) {
      throw error.failure ? error : refusal("invalid_request", error.message);
    }
  };
  const of = {
    async *messages() {
      yield* await messages(host, session, {});
    },
  };
  const uncounted = (/** @type {string} */ encoding) => refusal("no_counter", `expected a counter for "${encoding}", but found none: give "count", or an encoding of o200k_base, cl100k_base or estimate-1`);
  return {
    counts: ({ encoding, texts }) => text(count ? () => count(texts, encoding) : () => Promise.reject(uncounted(encoding))),
    ...(summarize && {
      summary: ({ system, user, maxTokens, startMessageId, endMessageId, messageCount, previous }) =>
        text(async () => {
          const asked = [{ role: "system", content: system }, { role: "user", content: user }];
          const answer = await summarize({ messages: asked, maxTokens, range: { startMessageId, endMessageId, messageCount: Number(messageCount) }, previous });
          return typeof answer === "string" ? { content: answer } : answer;
        }),
    }),
    strategy: ({ name }) =>
      text(async () => {
        const { messages, includedCount, summarizedCount } = (await strategies.find((/** @type {any} */ one) => one.name === name).build(of)) ?? {};
        return { messages, includedCount, summarizedCount };
      }),
  };
}

/** @implements {Surface} */
export class Component {
  /** @type {Map<string, Host>} */
  #hosts = new Map();
  /** @type {Map<string, { host: Host, session: any }>} */
  #sessions = new Map();
  /** @type {Promise<unknown>} */
  #last = Promise.resolve();

  /** @param {{ root: string, stamps: Stamps }} host */
  constructor({ root, stamps }) {
    this.root = root;
    this.stamps = stamps;
  }

  // Nothing comes between its calls.
  arm() {}

  /** @param {any} error */
  refusal(error) {
    return error.payload && error.payload.code !== "internal" ? error.payload : undefined;
  }

  /** One after another: the host knows no turns. @param {string} op @param {any} asked @param {{ as?: string, store: string, session: string }} names */
  does(op, asked, names) {
    const mine = this.#last.then(() => this.#does(op, asked, names));
    this.#last = mine.catch(() => {});
    return mine;
  }

  /** @param {string} op @param {any} asked @param {{ as?: string, store: string, session: string }} names */
  async #does(op, asked, { as, store, session }) {
    if (op === "openStore") return this.#opened(as ?? store, asked);
    if (PLAIN[op]) return PLAIN[op](asked);
    const host = this.#hosts.get(store);
    if (op === "closeStore") return host && this.#closed(host);
    const known = this.#sessions.get(session)?.session;
    const ofStore = OF_STORES[op];
    if (host && ofStore) return ofStore({ host, session: known, own: {}, asked });
    const opening = OPENING[op];
    if (host && opening) return this.#named(as ?? session, host, await opening({ host, session: known, own: {}, asked }));
    const one = this.#sessions.get(session);
    const ofSession = OF_SESSIONS[op];
    if (!one || !ofSession) throw new Error(`expected an operation, but found "${op}" instead`);
    /** @type {unknown[]} */
    const requests = [];
    const caller = given(asked, requests);
    const answer = await ofSession({ ...one, own: helped(one.host, one.session, caller), asked: caller });
    return asked.summarize ? { answer, requests } : answer;
  }

  /** @param {string} name @param {any} options */
  async #opened(name, { project = join(this.root, "project"), home = join(this.root, "home"), workspace, idleMs }) {
    const open = (/** @type {number} */ idleMs) => new Host({ project, home, workspace, clock: { nowMs, offsetMinutes, entropy }, idleMs });
    const before = open(0);
    const { settings, problems } = await json(before.run(before.store.settings()));
    this.#hosts.set(name, open(idleMs ?? settings.idleMinutes * 60_000));
    return problems.length > 0 ? { problems } : undefined;
  }

  /** What opens a session is answered by it. @param {string} name @param {Host} host @param {any} session */
  async #named(name, host, session) {
    if (!session) return undefined;
    if (session.id() === "") await host.run(session.open());
    const { notices } = JSON.parse(await host.run(session.takeUp(BigInt(host.idleMs), true)));
    this.#sessions.set(name, { host, session });
    const { display, lifecycle, stats } = JSON.parse(session.metadata());
    return { id: session.id(), path: session.path(), placement: placementOf(session), title: display.title, lifecycle, messageCount: stats.messageCount, notices };
  }

  /** @param {Host} host */
  async #closed(host) {
    for (const one of this.#sessions.values()) if (one.host === host) await host.run(one.session.close());
    await host.run(host.store.save());
  }

  /** @param {string} name */
  session(name) {
    const found = this.#sessions.get(name);
    return found && { id: found.session.id(), path: found.session.path() };
  }

  async end() {
    await this.#last;
    for (const host of this.#hosts.values()) await this.#closed(host).catch(() => {});
    this.#hosts.clear();
  }
}
