// @ts-check
/**
 * A host of leftoff's component, as jco makes it for Node: a store below a folder, in about a hundred lines. See
 * crates/component/wit/.
 */

import { createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  cpSync,
  existsSync,
  fsyncSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeSync,
} from "node:fs";
import { homedir, hostname } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import process from "node:process";
import { isUtf8 } from "node:buffer";

const { protocol, store, texts, transcripts } = await import(
  new URL("../../target/component/leftoff.js", import.meta.url).href
);
export { texts, transcripts };

/** @type {Record<string, string>} */
const CODES = {
  EEXIST: "already_exists",
  ENOTEMPTY: "already_exists",
  ENOENT: "not_found",
  EACCES: "permission_denied",
  ENOSPC: "disk_full",
  EISDIR: "not_a_file",
  ENOTDIR: "not_a_folder",
};

/** A failure with a word of its own. @param {string} failure @param {string} message */
export const refusal = (failure, message) => Object.assign(new Error(message), { failure });

/** What leads nowhere. @template T @param {() => T} work @returns {T | undefined} */
function unlessAbsent(work) {
  try {
    return work();
  } catch (/** @type {any} */ error) {
    if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
  }
}

/** @param {string} path */
function statOf(path) {
  const found = unlessAbsent(() => lstatSync(path, { bigint: true }));
  if (!found) return undefined;
  const { size, ino: number, mtimeNs, ctimeNs, birthtimeNs } = found;
  const kind = found.isFile() ? "file" : found.isDirectory() ? "folder" : "other";
  return {
    kind,
    size,
    modifiedUs: mtimeNs / 1000n,
    changedUs: ctimeNs / 1000n,
    file: { number, madeUs: birthtimeNs / 1000n },
  };
}

/** How many bytes are in a file or a folder. @param {string} path @returns {bigint} */
function sizeOf(path) {
  const { kind, size } = statOf(path) ?? { size: 0n };
  return kind === "folder" ? readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0n) : size;
}

/** @param {any} content @returns {Uint8Array} */
export const bytesOf = (content) => (content.tag === "text" ? Buffer.from(content.val) : content.val);
/** @param {Uint8Array} bytes */
export const contentOf = (bytes) =>
  isUtf8(bytes) ? { tag: "text", val: Buffer.from(bytes).toString() } : { tag: "bytes", val: bytes };

/** By these words a process is told from a later one of the same number. @param {number | bigint} pid */
function leaseOf(pid) {
  const text = unlessAbsent(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  const start = text?.slice(text.lastIndexOf(")") + 2).split(" ")[19];
  const boot = unlessAbsent(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8"))?.trim();
  return { pid: BigInt(pid), host: hostname(), boot, start, program: "host.mjs" };
}

/**
 * What a need about a file is called where it is refused; the first ones follow nothing, the others may be about a link
 * itself.
 */
const WITHIN = /** @type {Record<string, string>} */ ({
  read: "read",
  stat: "stat",
  entries: "list",
  append: "append to",
  replace: "replace",
  keep: "replace",
  put: "replace",
  hand: "read",
  hash: "read",
});
const BESIDE = /** @type {Record<string, string>} */ ({ remove: "remove", move: "move", copy: "copy", link: "link" });

/** How each need is answered; with nothing, it is done. @typedef {Record<string, (asked: any) => any>} Answers */

/** Vocabularies by their encodings: one instance serves all stores. @type {Map<string, any>} */
const VOCABULARIES = new Map();

/** Has all stores know a vocabulary; the one by which is counted. @param {string} planes its file */
export function know(planes) {
  const made = protocol.Vocabulary.fromPlanes(readFileSync(planes));
  VOCABULARIES.set(made.encoding(), made);
}

/** That of an encoding, where it is known. @param {string} encoding */
export const vocabularyOf = (encoding) => VOCABULARIES.get(encoding);

/**
 * The machine's time and chance.
 * @type {{ nowMs: () => number, offsetMinutes: () => number, entropy: () => Uint8Array }}
 */
const CLOCK = { nowMs: Date.now, offsetMinutes: () => -new Date().getTimezoneOffset(), entropy: () => randomBytes(32) };

export class Host {
  /** The output that is saved, JSON, and what was read of one. @type {Uint8Array} */
  given = new Uint8Array();
  /** @type {Uint8Array} */
  handed = new Uint8Array();
  #name = randomBytes(16).toString("hex");
  /**
   * @param {{ home: string, project: string, workspace?: string, clock?: typeof CLOCK, idleMs?: number, countTokens?: boolean, redact?: string }} folders
   */
  constructor({ home, project: named, workspace, clock = CLOCK, idleMs = 30 * 60_000, countTokens, redact = "off" }) {
    this.clock = clock;
    const project = realpathSync(named);
    /** @type {Record<string, string>} */
    this.roots = { home, project, outside: "/" };
    const setup = {
      home,
      project,
      workspace,
      normalProject: project.normalize("NFC"),
      user: homedir(),
      separator: "/",
      idleMs,
      countTokens,
    };
    this.store = store.Store.open(JSON.stringify(setup), VOCABULARIES.get("o200k_base"), redact);
  }

  /**
   * Drives an operation to its end: what it answers, a text or a session.
   * @param {any} operation
   * @param {Answers} [own] how its caller answers what it needs: pages, counts, summaries
   */
  async run(operation, own = {}) {
    try {
      /** @type {unknown[]} */
      let answers = [];
      const { entropy } = this.stamp();
      for (;;) {
        const stamp = { nowMs: BigInt(this.clock.nowMs()), offsetMinutes: this.clock.offsetMinutes(), entropy };
        /** @type {{ tag: string, val: any }} */
        const { tag, val } = operation.next(stamp, answers);
        if (tag !== "needs") return val;
        answers = await Promise.all(val.map((/** @type {any} */ need) => this.#answer(need, own)));
      }
    } finally {
      operation[Symbol.dispose]();
    }
  }

  /** A moment, and chance. */
  stamp() {
    const chance = Buffer.from(this.clock.entropy());
    const entropy = [0, 8, 16, 24].map((at) => chance.readBigUInt64BE(at));
    return { nowMs: BigInt(this.clock.nowMs()), offsetMinutes: this.clock.offsetMinutes(), entropy };
  }

  /** @param {{ root: { tag: string, val?: string }, path: string }} file */
  #pathOf({ root, path }) {
    return join(root.val ?? this.roots[root.tag], path);
  }

  /** A link below a root would lead out of it. @param {string} need @param {any} asked */
  #refuseLinks(need, asked) {
    const verb = WITHIN[need] ?? BESIDE[need];
    const { root, path } = (verb && (asked.file ?? asked.folder ?? asked.from ?? asked)) || {};
    if (!root || root.tag === "outside") return;
    const names = path.split("/");
    for (let length = 1; length < names.length + (need in WITHIN ? 1 : 0); length += 1) {
      const found = unlessAbsent(() => lstatSync(this.#pathOf({ root, path: names.slice(0, length).join("/") })));
      if (found?.isSymbolicLink())
        throw refusal(
          "outside_store",
          `could not ${verb} "${this.#pathOf({ root, path })}": expected a file of the store, but found a link instead`,
        );
    }
  }

  /** @param {{ tag: string, val?: any }} need @param {Answers} own */
  async #answer({ tag, val }, own) {
    try {
      this.#refuseLinks(tag, val);
      const answer = own[tag] ?? this.#answers[tag];
      if (!answer) throw refusal("no_counter", "this host counts by its vocabularies alone");
      return { tag: "done", ...(await answer(val)) };
    } catch (/** @type {any} */ error) {
      if (!error.syscall && !error.failure) throw error;
      return {
        tag: "failed",
        val: {
          code: error.failure ?? CODES[error.code] ?? "storage_failed",
          message: error.message,
          unconfirmed: false,
        },
      };
    }
  }

  /**
   * Opens a file in a folder that is made, unless it lies in one that has to be there.
   * @param {any} asked
   * @param {string} path
   */
  #openFile({ file, within }, path) {
    if (within !== undefined && statOf(this.#pathOf({ ...file, path: within }))?.kind !== "folder")
      throw refusal("not_found", "there is no folder");
    mkdirSync(dirname(path), { recursive: true });
    return openSync(path, "a+");
  }

  /** @type {Answers} */
  #answers = {
    read: ({ file, start, end }) => {
      const fd = unlessAbsent(() => openSync(this.#pathOf(file), "r"));
      if (fd === undefined) return { tag: "content" };
      const bytes = Buffer.alloc(Number((end ?? fstatSync(fd, { bigint: true }).size) - start));
      const length = readSync(fd, bytes, 0, bytes.length, Number(start));
      closeSync(fd);
      return { tag: "content", val: [contentOf(bytes.subarray(0, length))] };
    },
    stat: (file) => ({ tag: "stat", val: statOf(this.#pathOf(file)) }),
    entries: ({ folder, names }) => {
      const found = unlessAbsent(() => readdirSync(this.#pathOf(folder)).sort());
      const entry = (/** @type {string} */ name) => {
        const path = join(this.#pathOf(folder), name);
        const kind = statOf(path)?.kind ?? "other";
        return {
          name,
          kind,
          files: kind === "folder" ? names.map((/** @type {string} */ file) => statOf(join(path, file))) : undefined,
        };
      };
      return { tag: "entries", val: found?.map(entry) };
    },
    append: ({ content, durable, ...asked }) => {
      const fd = this.#openFile(asked, this.#pathOf(asked.file));
      writeSync(fd, bytesOf(content));
      if (durable) fsyncSync(fd);
      const { size } = fstatSync(fd, { bigint: true });
      closeSync(fd);
      return { tag: "end", val: size };
    },
    replace: ({ content, ...asked }) => {
      const path = this.#pathOf(asked.file);
      const beside = join(dirname(path), `.leftoff.${process.pid}.${randomBytes(8).toString("hex")}.tmp`);
      const fd = this.#openFile(asked, beside);
      writeSync(fd, bytesOf(content));
      fsyncSync(fd);
      closeSync(fd);
      renameSync(beside, path);
    },
    keep: (asked) => this.#answers.replace?.(asked),
    given: (end) => ({ tag: "content", val: [contentOf(this.given.subarray(0, Number(end)))] }),
    put: ({ file, content, at }) => {
      const around = bytesOf(content);
      return this.#answers.replace?.({
        file,
        content: contentOf(Buffer.concat([around.subarray(0, Number(at)), this.given, around.subarray(Number(at))])),
      });
    },
    hand: (range) => {
      const { val } = this.#answers.read?.(range);
      if (val) this.handed = bytesOf(val[0]);
      return val ? { tag: "end", val: BigInt(this.handed.length) } : { tag: "content" };
    },
    remove: (file) => rmSync(this.#pathOf(file), { recursive: true, force: true }),
    move: ({ from, to }) => {
      if (statOf(this.#pathOf(to)))
        throw refusal(
          "already_exists",
          `could not move "${this.#pathOf(from)}" to "${this.#pathOf(to)}": it already exists (EEXIST)`,
        );
      mkdirSync(dirname(this.#pathOf(to)), { recursive: true });
      renameSync(this.#pathOf(from), this.#pathOf(to));
    },
    copy: ({ from, to, missing }) => {
      cpSync(this.#pathOf(from), this.#pathOf(to), { recursive: true, force: !missing });
      return { tag: "end", val: sizeOf(this.#pathOf(to)) };
    },
    hash: ({ file, start, end }) => {
      const bytes = readFileSync(this.#pathOf(file)).subarray(Number(start), Number(end));
      if (bytes.length === Number(end - start))
        return { tag: "text", val: createHash("sha256").update(bytes).digest("hex") };
    },
    wait: (ms) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
    git: () => ({ tag: "ran", val: undefined }),
    out: () => ({ tag: "text", val: "{}" }),
    // Agents' files that are databases this host cannot read.
    document: ({ path, isFirst }) => ({
      tag: "document",
      val: isFirst ? { pieces: [contentOf(readFileSync(path))], isAlone: true } : undefined,
    }),
    real: (path) => ({ tag: "text", val: isAbsolute(path) && existsSync(path) ? realpathSync(path) : path }),
    normal: (path) => ({ tag: "text", val: path.normalize("NFC") }),
    unmarked: (text) => ({ tag: "text", val: text.normalize("NFKD").replace(/\p{Mark}/gu, "") }),
    process: () => ({ tag: "process", val: { lease: leaseOf(process.pid), name: this.#name, isAlone: false } }),
    gone: (others) => ({ tag: "flags", val: others.map(isGone) }),
    vocabulary: (encoding) => {
      const known = VOCABULARIES.get(encoding);
      if (!known) throw refusal("no_counter", "this host counts by its vocabularies alone");
      return { tag: "vocabulary", val: known };
    },
    turn: () => {},
    leave: () => {},
    page: () => {},
    link: ({ file, target }) => {
      const path = this.#pathOf(file);
      rmSync(path, { force: true });
      symlinkSync(target, path);
    },
  };
}

/** Of one that says no machine, only its number tells. @param {any} other */
function isGone({ pid, host, boot, start }) {
  const there = leaseOf(pid);
  const isThere = there.start !== undefined;
  if (host === "") return !isThere;
  return host === hostname() && !(isThere && boot === there.boot && start === there.start);
}
