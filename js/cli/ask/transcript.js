// @ts-check
/** A transcript of `leftoff ask` on disk: text is written first, then shown. The core makes its content. */

import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";

import { agents } from "../../wasm/agents.js";
import { nowMs } from "../../wasm/clock.js";
import { bytesOf, fromBytes } from "../../wasm/core.js";
import { LeftoffError } from "../../index.js";
import { codeOf } from "../../storage/folders.js";
import { isGone, thisProcess } from "../../storage/process.js";
import { toStorageError } from "../../storage/system-errors.js";

/** The name of the last transcript: a link or, where there are no links, a small file. */
const LATEST_NAME = "latest";
/** The ending of the lock file beside a transcript that is being written. */
const LOCK_ENDING = ".lock";

export class TranscriptFile {
  /** @type {number} */
  #file;
  #end = 0;

  /** @param {string} path @param {number} file @param {number} end */
  constructor(path, file, end) {
    this.path = path;
    this.#file = file;
    this.#end = end;
  }

  /** Creates a transcript. @param {string} home @param {string} folder the folder of the question */
  static create(home, folder) {
    const place = join(home, "ask");
    mkdirSync(place, { recursive: true, mode: 0o700 });
    for (let at = nowMs(); ; at += 1) {
      const name = agents.call((core) => core.askName(at));
      const path = join(place, `${name}.md`);
      try {
        const file = openSync(path, "ax", 0o600);
        const transcript = new TranscriptFile(path, file, 0);
        lockTranscript(path);
        transcript.append(agents.call((core) => core.askTitle(name, folder)));
        pointLatest(place, `${name}.md`);
        return transcript;
      } catch (error) {
        if (codeOf(error) !== "EEXIST") throw toStorageError("append", path, error, { hasRoot: false });
      }
    }
  }

  /** Opens the last transcript for the next question. @param {string} home */
  static openLatest(home) {
    const place = join(home, "ask");
    const path = join(place, textOf(join(place, `${LATEST_NAME}.txt`)).trim());
    if (dirname(path) !== place)
      throw new LeftoffError({
        code: "not_found",
        message: `no conversation to continue in "${place}"; without --resume a new one begins`,
      });
    const bytes = bytesIn(path);
    if (!bytes)
      throw new LeftoffError({
        code: "not_found",
        message: `no conversation at "${path}"; without --resume a new one begins`,
      });
    lockTranscript(path);
    const file = openSync(path, "a");
    const { torn, closing } = fromBytes(agents.call((core) => core.askOpened(bytes, nowMs())));
    const end = torn ?? bytes.length;
    ftruncateSync(file, end);
    const transcript = new TranscriptFile(path, file, end);
    transcript.append(closing);
    return transcript;
  }

  /** Appends text whole, or not at all: on a full disk nothing of it stays. @param {string | Uint8Array} said */
  append(said) {
    const bytes = typeof said === "string" ? bytesOf(said) : said;
    try {
      for (let done = 0; done < bytes.length;) done += writeSync(this.#file, bytes, done);
    } catch (error) {
      ftruncateSync(this.#file, this.#end);
      throw toStorageError("append", this.path, error, { hasRoot: false });
    }
    this.#end += bytes.length;
  }

  /** Makes the disk confirm what was appended. */
  flush() {
    fsyncSync(this.#file);
  }

  close() {
    closeSync(this.#file);
    rmSync(this.path + LOCK_ENDING, { force: true });
  }
}

// Locks a transcript: of two terminals the second is refused, so their answers don't mix.
/** @param {string} path */
function lockTranscript(path) {
  const lock = path + LOCK_ENDING;
  const own = `${lock}-${process.pid}`;
  writeFileSync(own, JSON.stringify(thisProcess()), { mode: 0o600 });
  try {
    for (;;) {
      try {
        return linkSync(own, lock);
      } catch (error) {
        if (codeOf(error) !== "EEXIST") throw error;
      }
      const other = readLockHolder(lock);
      if (other && !isGone(other))
        throw new LeftoffError({
          code: "open_elsewhere",
          message: `process ${other.pid} is asking in "${path}" right now; without --resume a new conversation begins`,
        });
      rmSync(lock, { force: true });
    }
  } finally {
    unlinkSync(own);
  }
}

/** @param {string} path @returns {import("../../storage/process.js").ProcessName | undefined} */
function readLockHolder(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (error instanceof SyntaxError || codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** @param {string} place @param {string} name */
function pointLatest(place, name) {
  const own = join(place, `.${LATEST_NAME}-${process.pid}`);
  const file = join(place, `${LATEST_NAME}.txt`);
  try {
    writeFileSync(own, `${name}\n`, { mode: 0o600 });
    renameSync(own, file);
  } catch (error) {
    rmSync(own, { force: true });
    throw toStorageError("replace", file, error, { hasRoot: false });
  }
  try {
    symlinkSync(name, own);
    renameSync(own, join(place, LATEST_NAME));
  } catch (error) {
    // Where the user may not make links, a file names it.
    if (codeOf(error) !== "EPERM") throw error;
  }
}

/** @param {string} path */
function textOf(path) {
  return bytesIn(path)?.toString("utf8") ?? "";
}

/** @param {string} path */
function bytesIn(path) {
  try {
    return readFileSync(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw toStorageError("read", path, error, { hasRoot: false });
  }
}
