// @ts-check
/** Other agents' sessions on their way into the store: from a file, a folder, or wherever each agent keeps them. */

import { join } from "node:path";

import { agents } from "../wasm/agents.js";
import { documents, found } from "../agents/files.js";
import { appendFresh } from "./appending.js";
import { Continued } from "./continued.js";
import { bytesOf, fromBytes } from "../wasm/core.js";
import { derived } from "../storage/derived.js";
import { LeftoffError, unlessBug } from "../error.js";
import { names } from "../placement/placement.js";
import { parse } from "../session/transcript.js";

/** @import { Kept } from "../agents/places.js" */
/** @import { Said } from "./arrivals.js" */
/** @import { Session } from "../session/session.js" */
/** @import { Storage } from "../storage/contract.js" */
/** @import { ReadSession } from "../session/transcript.js" */
/** @import { ImportOptions, ImportResult, ImportedSession } from "../types/index.js" */

/**
 * @typedef {(session: Session, one: ReadSession) => Promise<void>} LetGo
 */

/** Files between two times that it is kept which were imported. */
const KEPT_EACH = 256;
// What is found in folders and is no session is no trouble.
const NONE = ["unknown_format", "empty_file"];
// Counted up where a reader takes more from a file than before, so that files are read again.
const READERS = 2;

export class Importing {
  #outside;
  #seen;
  #open;
  #letGo;
  #countTokens;
  #isOn;
  #continued;
  #resumed;

  /**
   * @param {{ storage: Storage, outside: Storage, home: string, countTokens: boolean, isOn?: boolean,
   *   open: (one: ReadSession, said: Said) => Promise<Session>, resumed: (id: string) => Promise<Session | undefined>,
   *   letGo: LetGo }} parts
   *   `outside`: where the agents' files are; `isOn`: what is read goes on there; `open`: the session that one of theirs goes
   *   into; `resumed`: one that was resumed in theirs
   */
  constructor({ storage, outside, home, countTokens, isOn = false, open, resumed, letGo }) {
    this.#outside = outside;
    this.#seen = new Seen(storage, join(home, names().imported));
    this.#open = open;
    this.#letGo = letGo;
    this.#countTokens = countTokens;
    this.#isOn = isOn;
    this.#continued = new Continued(storage, home);
    this.#resumed = resumed;
  }

  /** Of one file, whatever it was before. @param {string} path @param {ImportOptions} options @returns {Promise<ImportResult>} */
  async file(path, { from, only, onProgress } = {}) {
    const totalBytes = onProgress ? ((await this.#outside.stat(path))?.size ?? 0) : 0;
    const tell = (/** @type {number} */ share) => onProgress?.({ path, done: 0, total: 1, bytes: Math.floor(share * totalBytes), totalBytes });
    return this.#file(path, { from, only, size: totalBytes, tell });
  }

  /** @param {string} path @param {{ from?: string, only?: ImportOptions["only"], size: number, tell: (share: number) => void }} options `tell`: is told which share of it is done */
  async #file(path, { from, only, size, tell }) {
    tell(0);
    let taken = 0;
    /** @type {ImportResult} */
    const result = { imported: [], problems: [], unchanged: 0 };
    for await (const { bytes, beside, isAlone, error } of documents(this.#outside, path, only)) {
      try {
        // Of a database others can be read.
        if (error) throw error;
        const read = parse(bytes, path.replace(/\.zst$/, ""), from, beside);
        // Reading it takes as long as writing what it holds. Of a database nobody knows how many sessions come.
        const begun = Math.min(1, taken / size || 0);
        taken += bytes.length;
        const share = isAlone ? 1 : Math.min(1, taken / size || 0) - begun;
        const within = (/** @type {number} */ written) => tell(begun + share * (0.5 + written / 2));
        within(0);
        const { imported, problems } = await this.#sessions(read, path, within).finally(read.free);
        result.imported.push(...imported);
        result.problems.push(...problems);
      } catch (error) {
        // Of a database one session may be empty.
        if (isAlone || !(error instanceof LeftoffError) || error.code === "internal") throw error;
        if (!NONE.includes(error.code)) result.problems.push({ path, code: error.code, message: error.message });
      }
    }
    return result;
  }

  /** Of each file in the folders, as far as it has changed since. @param {Kept[]} kept @param {ImportOptions} options @returns {Promise<ImportResult>} */
  async folders(kept, { from, onProgress } = {}) {
    refuseUnknown(from);
    const all = [];
    for (const { path, is, agent } of kept) for await (const file of found(this.#outside, path, is)) all.push({ ...file, agent, print: [file.size, from ?? agent ?? ""].join(" ") });
    await this.#seen.load();
    const files = all.filter(({ path, print }) => !this.#seen.has(path, print));
    const totalBytes = files.reduce((sum, { bytes }) => sum + bytes, 0);
    let before = 0;
    /** @type {ImportResult} */
    const result = { imported: [], problems: [], unchanged: all.length - files.length };
    for (const [done, { path, print, agent, bytes: size }] of files.entries()) {
      const start = before;
      before += size;
      const tell = (/** @type {number} */ share) => onProgress?.({ path, done, total: files.length, bytes: start + Math.floor(share * size), totalBytes });
      try {
        const { imported, problems } = await this.#file(path, { from: from ?? agent, size, tell });
        result.imported.push(...imported);
        result.problems.push(...problems);
      } catch (error) {
        if (!(error instanceof LeftoffError)) throw error;
        const { code, message } = error;
        if (!NONE.includes(code)) {
          result.problems.push({ path, code, message });
          continue;
        }
      }
      await this.#seen.add(path, print);
    }
    await this.#seen.save();
    return result;
  }

  /** @param {ReturnType<typeof parse>} read @param {string} path @param {(written: number) => void} within which share of its messages is written */
  async #sessions(read, path, within) {
    const { sessions, problems, handle } = read;
    /** @type {ImportedSession[]} */
    const imported = [];
    const total = sessions.reduce((sum, { messageCount }) => sum + messageCount, 0);
    let done = 0;
    const onBatch = (/** @type {number} */ count) => {
      within(Math.min(1, done / total || 0));
      done += count;
    };
    for (const [at, one] of sessions.entries()) {
      const { agent, losses, parent } = one;
      for (const { session, goesOn, at: place, count } of await this.#parts(read, at, one)) {
        const added = await appendFresh(session, { handle, at: place, count, countTokens: this.#countTokens, goesOn, revives: this.#isOn, onBatch });
        await this.#letGo(session, one);
        imported.push({ id: session.id, agent, path, messageCount: count, added, parent: parent ?? undefined, losses });
      }
    }
    return { imported, problems: problems.map((problem) => ({ path, ...problem })) };
  }

  /**
   * Where the messages go: nearly always all into one.
   * @param {ReturnType<typeof parse>} read @param {number} at @param {ReadSession} one
   */
  async #parts({ handle, isAboutStore }, at, one) {
    const own = () => this.#open(one, (from, to) => fromBytes(agents.called(() => handle.messages(at, from, to))));
    const parts = [];
    for (const { session, ...part } of await this.#continued.parts(handle, { at, one, isOn: this.#isOn, isAboutStore, find: this.#resumed })) {
      parts.push({ ...part, goesOn: session !== undefined, session: session ?? (await own()) });
    }
    return parts;
  }
}

/** @param {string | undefined} agent */
function refuseUnknown(agent) {
  if (agent === undefined) return;
  const names = agents.called(({ agentNames }) => agentNames());
  if (names.includes(agent)) return;
  throw new LeftoffError({ code: "invalid_request", message: `expected an agent's name (${names.join(", ")}), but found "${agent}" instead` });
}

// Which files were imported, and how they were then. It is a cache: without it each is read once more.
class Seen {
  #storage;
  #path;
  /** @type {Map<string, string>} */
  #prints = new Map();
  #isChanged = false;

  /** @param {Storage} storage @param {string} path */
  constructor(storage, path) {
    this.#storage = storage;
    this.#path = path;
  }

  async load() {
    const { readers, files } = (await derived(this.#storage, this.#path)) ?? {};
    if (readers === READERS && files) this.#prints = new Map(Object.entries(files));
  }

  /** @param {string} path @param {string} print */
  has(path, print) {
    return this.#prints.get(path) === print;
  }

  /** @param {string} path @param {string} print */
  async add(path, print) {
    this.#prints.set(path, print);
    this.#isChanged = true;
    // Who is interrupted need not begin anew.
    if (this.#prints.size % KEPT_EACH === 0) await this.save();
  }

  async save() {
    if (!this.#isChanged) return;
    const bytes = bytesOf(JSON.stringify({ readers: READERS, files: Object.fromEntries(this.#prints) }));
    await this.#storage.replace(this.#path, bytes).catch(unlessBug);
    this.#isChanged = false;
  }
}
