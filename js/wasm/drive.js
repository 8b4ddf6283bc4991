// @ts-check
/**
 * Drives the core's operations: answers their host requests until they end. This host needs to know no more of an
 * operation.
 */

import { entropy, nowMs } from "./clock.js";
import { bytesOf, fromBytes, textOf, coreModule } from "./core.js";
import { LeftoffError, refuseBug } from "../error.js";
import { documents } from "../agents/files.js";
import { toJson } from "./json.js";
import { isGone, pause, realPathAsFar, runGit, sha256, thisProcess } from "../host/host.node.js";
import { findSecrets, secretScan, joinedLength } from "../privacy/secrets.js";
import { joinBytes } from "../storage/bytes.js";
import { copyTree } from "../storage/copy.js";
import { bufferFor, packStat, packVectors, packStats, packEntries, LOG_ROW } from "../storage/core-encoding.js";

/** @import { Operations as OfAgents } from "../../pkg/agents.js" */
/** @import { Operations } from "../../pkg/leftoff.js" */
/** @import { agents } from "./agents.js" */
/** @import { Document } from "../agents/files.js" */
/** @import { SecretScan } from "../privacy/secrets.js" */
/** @import { Stat, Storage } from "../storage/contract.js" */
/** @import { ContextRequest, Conversation, Embed, SummaryRequest } from "../types/index.js" */

/**
 * A file as the core names it: a root, and a path below it.
 * @typedef {{ root: "home" | "project" | "outside" | { workspace: string }, path: string }} CoreFile
 *
 * Where a session's messages lie. `opened` is how often the core had opened the session when this was looked up.
 * @typedef {{ storage: Storage, path: string, folder: string, opened: number }} MessageLog
 *
 * What answers an operation's requests.
 * @typedef {object} Host
 * @property {OperationModule} [module] the module that has the operation; the core unless given
 * @property {(file: CoreFile) => { storage: Storage, path: string }} at resolves a file that the core names
 * @property {() => MessageLog} log where the session's messages lie
 * @property {string} [lease] the name of the lease that shows the session as open here
 * @property {(of?: string) => Promise<() => void>} turn waits for the session's turn, resolves to the function that
 *   ends it; `of`: the folder, where the operation is a store's
 * @property {(at: { storage: Storage, path: string }, bytes: Uint8Array) => void} [keep] replaces a file whose loss
 *   does no harm
 * @property {() => void} [unsure] is called when the log may differ from what the core knows of it
 * @property {typeof runGit} [runGit] runs git; without it operations do without git
 * @property {CallerFunctions} [own]
 *
 * The caller's functions and bytes that an operation uses.
 * @typedef {object} CallerFunctions
 * @property {ContextRequest["count"]} [count]
 * @property {Embed} [embed]
 * @property {(request: SummaryRequest) => unknown} [summarize]
 * @property {(name: string, budget: number, encoding: string) => unknown} [strategy]
 * @property {(json: Uint8Array) => Promise<Uint8Array>} [out] redacts outgoing text
 * @property {Conversation["commandOf"]} [commandOf]
 * @property {Uint8Array} [savedBytes] the bytes to save
 * @property {Uint8Array} [loadedBytes] the bytes that were read for the caller
 * @property {AbortSignal} [signal] ends the operation as if nothing more came
 *
 * @typedef {AsyncGenerator<Uint8Array, Uint8Array | undefined>} Pages an operation's pages, and its answer at the end
 * @typedef {typeof coreModule | typeof agents} OperationModule
 * @typedef {(operations: Operations & OfAgents, now: number, chance: Uint8Array) => Uint8Array} BeginOperation gives
 *   the first step
 * @typedef {import("../storage/core-encoding.js").ReadBuffer & { documents?: AsyncGenerator<Document> }} AgentReading
 * @typedef {{ host: Host, payload: Uint8Array, number: number, turnEnds: Map<string | undefined, () => void>,
 *   reading: AgentReading, failure: (error: unknown) => HostResponse }} AnswerContext `turnEnds`: by folder, the
 * functions that end the turns this operation holds;
 *   `reading`: the agent's file being read, and the buffer for it; `failure`: makes the response for an error
 */

const READY_TAG = 82;
const APPEND_TAG = 65;
const FAILURE_TAG = 70;
/** Bytes before the requests of a step: its kind (1), the operation's number (4), the requests' length (4). */
const HEAD_BYTES = 9;

/**
 * Each module's table of operations, with the instance that made it.
 * @type {Map<OperationModule, { table: any, made: number }>}
 */
const tables = new Map();

/** @param {OperationModule} module @returns {any} */
function operationsOf(module) {
  const known = tables.get(module);
  if (known?.made === module.instance) return known.table;
  const table = /** @type {typeof coreModule} */ (module).call(({ Operations }) => new Operations());
  tables.set(module, { table, made: module.instance });
  return table;
}

/**
 * A host response as it crosses to the core: its kind, then its values.
 * @typedef {[kind: number, ...said: unknown[]]} HostResponse
 */
const SUCCESS = 0;
const BYTES = 1;
const STAT = 2;
const ENTRIES = 3;
const END = 4;
const TEXT = 5;
const FAILURE = 7;
const VOCABULARY = 8;
const FLAGS = 9;
const PROCESS = 10;
const DOCUMENT = 11;
const GIT_RUN = 12;

/**
 * Answers each kind of request; an answer of nothing means `SUCCESS`.
 * @type {Record<string, (need: any, by: AnswerContext) => Promise<HostResponse | void>>}
 */
const RESPONDERS = {
  async read({ file, start, end = Infinity }, { host, reading }) {
    const { storage, path } = host.at(file);
    const isWhole = end === Infinity && start === 0;
    return [
      BYTES,
      await (isWhole ? storage.read(path) : storage.readRange(path, start, end, bufferFor(reading, end - start))),
    ];
  },
  async stat({ file }, { host }) {
    const { storage, path } = host.at(file);
    return [STAT, packStat(await storage.stat(path))];
  },
  async list({ folder, names = [] }, { host }) {
    const { storage, path } = host.at(folder);
    const found = await storage.list(path, names.length > 0 ? { files: names, as: packStats } : {});
    return found ? [ENTRIES, found.map(({ name }) => name).join("/"), packEntries(found, names.length)] : [ENTRIES];
  },
  async append({ file, durable, within }, { host, payload }) {
    const { storage, path } = host.at(file);
    const { end, stat = null } = await storage.append(path, payload, {
      durable,
      within: within && host.at({ ...file, path: within }).path,
    });
    return [END, end, packStat(stat)];
  },
  async appendLines({ durable, outcome }, { host, payload }) {
    const { storage, path, folder } = host.log();
    if (outcome?.error !== undefined && outcome.end === undefined) throw outcome.error;
    const { end = NaN, stat = null } = outcome ?? (await storage.append(path, payload, { durable, within: folder }));
    return [END, end, packStat(stat)];
  },
  async replace({ file, within }, { host, payload }) {
    const { storage, path } = host.at(file);
    await storage.replace(path, payload, { within: within && host.at({ ...file, path: within }).path });
  },
  async keep({ file }, { host, payload }) {
    host.keep?.(host.at(file), payload);
  },
  async move({ from, to }, { host }) {
    const { storage, path } = host.at(from);
    await storage.move(path, host.at(to).path);
  },
  async copy({ from, to, missing }, { host }) {
    return [END, await copyTree(host.at(from), host.at(to), { isMissing: missing }), packStat(null)];
  },
  async link({ file, target }, { host }) {
    const { storage, path } = host.at(file);
    await storage.link(path, target);
  },
  async git(asked, { host, payload }) {
    const ran = await host.runGit?.(asked, payload);
    return ran ? [GIT_RUN, ran.status ?? -1, ran.out, ran.words, ran.isLate] : [GIT_RUN];
  },
  given: async ({ end }, { host }) => [BYTES, host.own?.savedBytes?.subarray(0, end)],
  async put({ file, at }, { host, payload }) {
    const { storage, path } = host.at(file);
    const pieces = [payload.subarray(0, at), host.own?.savedBytes ?? payload.subarray(at, at), payload.subarray(at)];
    await (storage.replacePieces
      ? storage.replacePieces(path, pieces, { durable: false })
      : storage.replace(path, joinBytes(pieces), { durable: false }));
  },
  async hand({ file, start, end }, { host }) {
    const { storage, path } = host.at(file);
    const bytes = await storage.readRange(path, start, end);
    if (bytes === null) return [BYTES, bytes];
    if (host.own) host.own.loadedBytes = bytes;
    return [END, bytes.length, packStat(null)];
  },
  async hash({ file, start, end }, { host }) {
    const { storage, path } = host.at(file);
    const bytes = await storage.readRange(path, start, end);
    if (bytes?.length === end - start) return [TEXT, await sha256(bytes)];
  },
  async remove({ file }, { host }) {
    const { storage, path } = host.at(file);
    await storage.remove(path);
  },
  async turn({ of }, { host, turnEnds: held }) {
    held.set(of, await host.turn(of));
  },
  async leave({ of }, { turnEnds: held }) {
    held.get(of)?.();
    held.delete(of);
  },
  async process(_, { host }) {
    const isAlone = !host.at({ root: "home", path: "" }).storage.capabilities.durable;
    return [PROCESS, toJson({ ...thisProcess(), name: host.lease, isAlone })];
  },
  gone: async ({ processes }) => [FLAGS, await Promise.all(processes.map(isGone))],
  async vocabulary({ encoding }, { host: { module = coreModule }, number }) {
    const counter = await module.loadCounter(encoding);
    module.call(() => operationsOf(module).vocabulary(number, counter));
    return [VOCABULARY];
  },
  async counts({ encoding, texts }, { host }) {
    const count = host.own?.count;
    if (!count) {
      const message = `expected a counter for "${encoding}", but found none: give "count", or an encoding of o200k_base, cl100k_base or estimate-1`;
      throw new LeftoffError({ code: "no_counter", message });
    }
    return [TEXT, toJson((await runCallerCode(() => count(texts, encoding))) ?? null)];
  },
  vectors: async ({ texts }, { host }) => [
    BYTES,
    await runCallerCode(async () => packVectors(await host.own?.embed?.(texts))),
  ],
  async summary({ system, user, maxTokens, previous, ...range }, { host }) {
    const messages = [
      /** @type {const} */ ({ role: "system", content: system }),
      /** @type {const} */ ({ role: "user", content: user }),
    ];
    const { startMessageId, endMessageId, messageCount } = range;
    const answer = await runCallerCode(() =>
      host.own?.summarize?.({ messages, maxTokens, range: { startMessageId, endMessageId, messageCount }, previous }),
    );
    return [TEXT, toJson(typeof answer === "string" ? { content: answer } : (answer ?? {}))];
  },
  async document({ path, only, isFirst }, { host, reading, failure }) {
    const { storage, path: file } = host.at({ root: "outside", path });
    if (isFirst) reading.documents = documents(storage, file, JSON.parse(only) ?? undefined);
    const { value } = (await reading.documents?.next()) ?? {};
    if (!value) return [DOCUMENT];
    const { bytes, isAlone, error } = value;
    return [DOCUMENT, bytes ?? new Uint8Array(), isAlone, ...(error ? failure(error).slice(1) : [])];
  },
  async command(_, { host, payload }) {
    const said = fromBytes(payload);
    return [TEXT, toJson((await host.own?.commandOf?.((from, to) => said.slice(from, to))) ?? null)];
  },
  realPath: async ({ path }, { host }) => [TEXT, host.runGit ? realPathAsFar(path) : path], // A storage of the caller's own has no links of this machine.
  normal: async ({ path }) => [TEXT, path.normalize("NFC")],
  unmarked: async ({ text }) => [TEXT, text.normalize("NFKD").replace(/\p{Mark}/gu, "")],
  async out(_, { host, payload }) {
    return [TEXT, textOf((await host.own?.out?.(payload)) ?? bytesOf("{}"))];
  },
  async secrets({ texts }, { payload }) {
    return [TEXT, toJson(findSecrets(await secretScan(), texts, payload))];
  },
  async strategy({ name, budget, encoding }, { host }) {
    const { messages, includedCount, summarizedCount } =
      /** @type {any} */ (await runCallerCode(() => host.own?.strategy?.(name, budget, encoding))) ?? {};
    return [TEXT, toJson({ messages, includedCount, summarizedCount })];
  },
  async wait({ ms }, { host }) {
    const signal = host.own?.signal;
    await pause(ms, signal).catch((error) => {
      if (!signal?.aborted) throw error;
    });
  },
};

// Runs the caller's own code. What it throws becomes the answer, as `invalid_request`; a trap of the core is thrown on.
/** @param {() => unknown} work */
async function runCallerCode(work) {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof LeftoffError && cause.code === "internal") throw cause;
    throw new LeftoffError({
      code: "invalid_request",
      message: cause instanceof Error ? cause.message : String(cause),
      cause,
    });
  }
}

/**
 * Drives an operation to its end. What the core's futures wait for is these answers and nothing else: no executor, no
 * waker. So no operation has a protocol of its own, and a host knows some thirty requests and no operation.
 * @param {BeginOperation} begin @param {Host} host @returns {Promise<Uint8Array>} its answer, JSON mostly
 */
export function drive(begin, host) {
  return readAnswer(drivePages(begin, host));
}

/**
 * Drives an operation that gives pages; a caller that wants no more of them ends the generator.
 * @param {BeginOperation} begin @param {Host} host
 * @returns {Pages} a page is good until the next one is asked for
 */
export function drivePages(begin, host) {
  const { module = coreModule } = host;
  return driveSteps(beginIn(module, begin), host, module.instance);
}

/**
 * Drives an operation that asks only for secrets, synchronously.
 * @param {BeginOperation} begin @param {{ module: OperationModule, scan: SecretScan | undefined }} by
 */
export function driveNow(begin, { module, scan }) {
  let step = beginIn(module, begin);
  while (step[0] !== READY_TAG) {
    const number = numberOf(step);
    const said = requestsOf(step).map(({ need, payload }) =>
      scan && need.type === "secrets" ? [TEXT, toJson(findSecrets(scan, need.texts, payload))] : undefined,
    );
    if (said.includes(undefined)) {
      module.call(() => operationsOf(module).drop(number));
      throw new LeftoffError({
        code: "missing_dependency",
        message: "the finder of secrets is not loaded: nothing can leave the store",
      });
    }
    step = nextIn(module, number, said);
  }
  return step.subarray(1);
}

/**
 * Begins an operation and returns its first step.
 * @param {OperationModule} module
 * @param {BeginOperation} begin
 * @returns {Uint8Array}
 */
function beginIn(module, begin) {
  return module.call(() => begin(operationsOf(module), nowMs(), entropy()));
}

/**
 * Hands over the responses and returns the next step.
 * @param {OperationModule} module
 * @param {number} number
 * @param {unknown[]} said
 * @returns {Uint8Array}
 */
function nextIn(module, number, said) {
  return module.call(() => operationsOf(module).next(number, nowMs(), said));
}

/** The answer of an operation without pages. @param {Pages} pages */
async function readAnswer(pages) {
  return /** @type {Uint8Array} */ ((await pages.next()).value);
}

/**
 * Appends to a session's messages. Most such operations are a single append to the log, which crosses without JSON,
 * together with the log's stat.
 * @param {(operations: Operations, log: MessageLog, seen: Float64Array, now: number, chance: Uint8Array) => Uint8Array}
 *   begin
 * @param {Host} host
 * @returns {Promise<Uint8Array>} the lines that were written
 */
export async function driveAppend(begin, host) {
  const generation = coreModule.instance;
  const log = host.log();
  const { storage, path, folder } = log;
  const stat = await storage.stat(path);
  rejectStale(coreModule, generation);
  const step = coreModule.call(() => begin(operationsOf(coreModule), log, packStat(stat, LOG_ROW), nowMs(), entropy()));
  if (step[0] !== APPEND_TAG) {
    host.unsure?.();
    return readAnswer(driveSteps(step, host, generation));
  }
  /** @type {Outcome} */
  const outcome = {};
  let seen = /** @type {Stat | null | undefined} */ (undefined);
  try {
    const { end, stat } = await storage.append(path, linesOf(step), { durable: isDurable(step), within: folder });
    outcome.end = end;
    seen = stat ?? (await storage.stat(path));
  } catch (error) {
    outcome.error = error;
  }
  const { end } = outcome;
  if (end === undefined || seen === undefined) {
    host.unsure?.();
    return readAnswer(driveSteps(step, host, generation, outcome));
  }
  rejectStale(coreModule, generation);
  const next = coreModule.call(() =>
    operationsOf(coreModule).finishAppend(numberOf(step), end, packStat(seen, LOG_ROW), nowMs()),
  );
  return next ? readAnswer(driveSteps(next, host, generation)) : linesOf(step);
}

/** The result of an append that was tried already. @typedef {{ end?: number, stat?: Stat, error?: unknown }} Outcome */

/**
 * Drives an operation from a step on.
 * @param {Uint8Array} step
 * @param {Host} host
 * @param {number} generation
 * @param {Outcome} [outcome] of the step's one append
 * @returns {Pages}
 */
async function* driveSteps(step, host, generation, outcome) {
  const { module = coreModule } = host;
  /** Errors of this host, numbered: an operation that fails by one rethrows that very error. @type {unknown[]} */
  const thrown = [];
  /** @type {AnswerContext["turnEnds"]} */
  const held = new Map();
  /** @type {AgentReading} */
  const reading = {};
  let number = -1;
  /** @type {Promise<HostResponse>[]} */
  let answers = [];
  const failure = (/** @type {unknown} */ error) => {
    // A bug or a trap of the core is thrown, never answered.
    refuseBug(error);
    const { code, message, written, durable } = error;
    return /** @type {HostResponse} */ ([FAILURE, thrown.push(error) - 1, code, message, written, durable === false]);
  };
  const answer = async (/** @type {any} */ need, /** @type {Uint8Array} */ payload) => {
    try {
      return (
        (await RESPONDERS[need.type]?.(need, { host, payload, number, turnEnds: held, reading, failure })) ??
        /** @type {HostResponse} */ ([SUCCESS])
      );
    } catch (error) {
      return failure(error);
    }
  };
  try {
    for (;;) {
      // The core forgets an operation that has ended, and may give its number to another one.
      const ended = step[0] === READY_TAG || step[0] === FAILURE_TAG;
      number = ended ? -1 : numberOf(step);
      if (step[0] === READY_TAG) return step.subarray(1);
      if (step[0] === FAILURE_TAG) throw thrown[numberOf(step)];
      if (step[0] === APPEND_TAG)
        answers = [answer({ type: "appendLines", durable: isDurable(step), outcome }, linesOf(step))];
      else {
        const needs = requestsOf(step);
        answers = needs.map(({ need, payload }) => answer(need, payload));
        for (const { need, payload } of needs) if (need.type === "page") yield payload;
      }
      outcome = undefined;
      const said = await Promise.all(answers);
      answers = [];
      if (host.own?.signal?.aborted) return undefined;
      rejectStale(module, generation);
      step = nextIn(module, number, said);
      reading.isLent = false; // The core has copied the buffer.
    }
  } finally {
    // No request of this step may still be under way when the next operation begins.
    if (answers.length > 0) await Promise.allSettled(answers);
    for (const leave of held.values()) leave();
    await reading.documents?.return(undefined);
    if (number >= 0 && module.instance === generation) module.call(() => operationsOf(module).drop(number));
  }
}

/**
 * Parses the requests of a step; the bytes to be written follow them, one payload after another.
 * @param {Uint8Array} step @returns {{ need: any, payload: Uint8Array }[]}
 */
function requestsOf(step) {
  const length = new DataView(step.buffer, step.byteOffset).getUint32(5, true);
  let at = HEAD_BYTES + length;
  return fromBytes(step.subarray(HEAD_BYTES, at)).map((/** @type {any} */ need) => {
    const { bytes = need.type === "secrets" ? joinedLength(need.texts) : 0 } = need;
    const payload = step.subarray(at, at + bytes);
    at += payload.length;
    return { need, payload };
  });
}

/** @param {Uint8Array} step */
const numberOf = (step) => new DataView(step.buffer, step.byteOffset).getUint32(1, true);

/** Whether the append waits for the disk. @param {Uint8Array} step which is one append */
const isDurable = (step) => step[5] === 1;

/** @param {Uint8Array} step which is one append */
const linesOf = (step) => step.subarray(6);

// Fails after a trap: all that belonged to the old instance of the core is gone.
/** @param {OperationModule} module @param {number} generation */
function rejectStale(module, generation) {
  if (module.instance === generation) return;
  throw new LeftoffError({
    code: "internal",
    message: "the core failed in another call meanwhile; look at what was kept before this one is made again",
  });
}
