// @ts-check
/**
 * What the fault suites share: seeded chance, a folder and children that are gone at the end whatever happens, hashes.
 */

import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** How long a child may be silent. A law that hangs is broken. */
const SILENT_MS = 60_000;
const SIGNALS = ["SIGINT", "SIGTERM"];
/** Folders at which a disk was put. @type {Set<string>} */
const disks = new Set();

/**
 * A child process under a watchdog.
 * @typedef {object} Child
 * @property {any[]} said each whole line of its stdout, as JSON
 * @property {number} pid
 * @property {() => void} kill SIGKILL
 * @property {(word: string) => void} tell writes a line to its stdin
 * @property {(isEnough: (said: any[]) => boolean) => Promise<void>} until resolves when it has said enough, or has
 *   ended
 * @property {Promise<ChildResult>} ended rejects where the watchdog had to end it
 *
 * @typedef {{ code: number | null, signal: string | null, stderr: string }} ChildResult
 * @typedef {(command: string, args: string[], env?: Record<string, string>) => Child} Start
 */

/**
 * Chance that comes again with the same seed (xorshift32).
 * @param {number} seed
 */
export function chance(seed) {
  // Small seeds would begin alike, and zero would stay zero.
  let state = Math.imul(seed + 1, 0x9e3779b1) ^ 0x6c078965 || 1;
  const real = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  return {
    real,
    /** A whole number from 0 up to but not including `end`. @param {number} end */
    below: (end) => Math.floor(real() * end),
    /** Each order of magnitude as often as any other. @param {number} min @param {number} max */
    size: (min, max) => Math.round(min * (max / min) ** real()),
  };
}

/**
 * Gives `work` an empty folder and the means to start children. Both are gone when it ends, also when it fails or is
 * interrupted.
 * @template T
 * @param {string} name
 * @param {(scene: { folder: string, start: Start }) => Promise<T>} work
 * @param {string} [parent] where the folder is made
 * @returns {Promise<T>}
 */
export async function scene(name, work, parent = tmpdir()) {
  const folder = mkdtempSync(join(realpathSync(parent), `leftoff-${name}-`));
  /** @type {Set<Child>} */
  const children = new Set();
  const killAll = () => children.forEach((child) => child.kill());
  const clear = () => {
    for (const disk of disks) unmount(disk);
    // Children that were killed just now may still be ending, and end a write.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  const interrupted = () => {
    killAll();
    clear();
    process.exit(1);
  };
  for (const signal of SIGNALS) process.once(signal, interrupted);
  try {
    return await work({ folder, start: (command, args, env) => startChild(children, command, args, env) });
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupted);
    killAll();
    await Promise.allSettled([...children].map((child) => child.ended));
    clear();
  }
}

/**
 * @param {Set<Child>} children those alive
 * @param {string} command
 * @param {string[]} args
 * @param {Record<string, string>} [env]
 * @returns {Child}
 */
function startChild(children, command, args, env) {
  const child = spawn(command, args, { stdio: "pipe", env: { ...process.env, ...env } });
  /** @type {any[]} */
  const said = [];
  /** @type {(() => void)[]} */
  const listeners = [];
  let rest = "";
  let stderr = "";
  let isSilent = false;
  const bark = () => {
    isSilent = true;
    child.kill("SIGKILL");
  };
  let watchdog = setTimeout(bark, SILENT_MS);
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  child.stdout.setEncoding("utf8").on("data", (text) => {
    clearTimeout(watchdog);
    watchdog = setTimeout(bark, SILENT_MS);
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) said.push(JSON.parse(line));
    for (const listener of listeners) listener();
  });
  /** @type {Promise<ChildResult>} */
  const ended = new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(watchdog);
      children.delete(mine);
      if (isSilent)
        reject(
          new Error(`expected "${command} ${args.join(" ")}" to end, but it was silent for ${SILENT_MS} ms\n${stderr}`),
        );
      else resolve({ code, signal, stderr });
    });
  });
  // Whoever waits for it hears of a failure; nobody waiting must not end the whole run.
  ended.catch(() => {});
  const until = (/** @type {(said: any[]) => boolean} */ isEnough) => {
    const enough = new Promise((resolve) => {
      const look = () => void (isEnough(said) && resolve(undefined));
      listeners.push(look);
      look();
    });
    return Promise.race([enough, ended]).then(() => {});
  };
  // One that is gone hears nothing; that it is gone, `ended` says.
  child.stdin.on("error", () => {});
  const mine = {
    said,
    pid: child.pid ?? 0,
    kill: () => void child.kill("SIGKILL"),
    tell: (/** @type {string} */ word) => void child.stdin.write(`${word}\n`),
    until,
    ended,
  };
  children.add(mine);
  return mine;
}

/** @param {string | Uint8Array} bytes */
export function sha256(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The hash of all that a message says. @param {any} message */
export function digest({ content, assistant }) {
  const hash = createHash("sha256").update(content);
  for (const { text } of assistant?.reasoning ?? []) hash.update(text);
  return hash.digest("hex");
}

/** Puts an empty disk at a folder. @param {string} folder @param {number} bytes */
export function mount(folder, bytes) {
  system("mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "leftoff-faults", folder]);
  disks.add(folder);
}

/** Takes a disk away, also one that is in use. @param {string} folder */
export function unmount(folder) {
  system("umount", ["--lazy", folder]);
  disks.delete(folder);
}

/** @param {string} folder an empty one @returns {string | null} why no disk can be put there */
export function cannotMount(folder) {
  try {
    mount(folder, 4096);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  unmount(folder);
  return null;
}

/** Runs a command of the system. @param {string} program @param {string[]} args */
export function system(program, args) {
  const { status, error, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${error?.message ?? stderr.trim()}`);
}
