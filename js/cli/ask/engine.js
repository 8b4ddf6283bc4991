// @ts-check
/** Runs an engine: its prompt goes in, its answer comes out. */

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

import { LeftoffError } from "../../index.js";

/** How long an engine may take to end once told to, in milliseconds. */
const GRACE_MS = 2000;
const SIGNAL_STATUSES = /** @type {const} */ ({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 });

/**
 * @typedef {object} Engine
 * @property {string} name
 * @property {string} program
 * @property {string[]} args
 * @property {boolean} isShell
 * @property {number} window in tokens
 *
 * @typedef {object} EngineResult
 * @property {number} status
 * @property {string} [stopped] why the answer is not whole
 */

/**
 * Runs an engine to its end, whatever that is.
 * @param {Engine} engine
 * @param {object} how
 * @param {Uint8Array} how.prompt
 * @param {string} how.folder its working folder
 * @param {number} [how.timeout] in seconds
 * @param {(said: Uint8Array) => Promise<void> | void} how.onOutput receives its output, in order
 * @param {(line: string) => void} [how.onErrorLine] receives lines of standard error, which else goes to the terminal
 * @returns {Promise<EngineResult>}
 */
export async function runEngine(
  { name, program, args, isShell },
  { prompt, folder, timeout, onOutput, onErrorLine: noted },
) {
  const isGroup = process.platform !== "win32";
  const child = spawn(program, args, {
    cwd: folder,
    shell: isShell,
    detached: isGroup,
    stdio: ["pipe", "pipe", /** @type {"pipe"} */ (noted ? "pipe" : "inherit")],
    env: { ...process.env, LEFTOFF_ASK: "1" },
  });
  /** @type {EngineResult | undefined} */
  let ended;
  const kill = (/** @type {NodeJS.Signals} */ signal) => killProcess(child, signal, isGroup);
  /** @type {NodeJS.Timeout[]} */
  const timers = [];
  const stop = (/** @type {EngineResult} */ why) => {
    if (ended) return;
    ended = why;
    kill("SIGTERM");
    timers.push(setTimeout(() => kill("SIGKILL"), GRACE_MS));
  };
  const heard = Object.entries(SIGNAL_STATUSES).map(
    ([signal, status]) => /** @type {const} */ ([signal, () => stop({ status, stopped: "interrupted" })]),
  );
  for (const [signal, listener] of heard) process.on(signal, listener);
  // A timer for longer than this would go off at once.
  if (timeout && timeout * 1000 < 2 ** 31)
    timers.push(
      setTimeout(() => stop({ status: 124, stopped: `no answer within ${timeout} seconds` }), timeout * 1000),
    );
  try {
    const closed = new Promise((resolve, reject) =>
      child.on("error", reject).on("close", (status, signal) => resolve({ status, signal })),
    );
    // An engine that does not read its input to the end has read enough.
    child.stdin.on("error", () => undefined).end(prompt);
    const all = (async () => {
      for await (const bytes of child.stdout) await onOutput(bytes);
    })();
    if (noted) createInterface({ input: child.stderr }).on("line", (line) => line.trim() && noted(line));
    const [{ status, signal }] = await Promise.all([closed, all]);
    if (ended) return ended;
    if (status === 0) return { status: 0 };
    return {
      status: status ?? 1,
      stopped: signal ? `the engine was ended by ${signal}` : `the engine ended with exit status ${status}`,
    };
  } catch (error) {
    kill("SIGKILL");
    if (!(error instanceof Error && "syscall" in error && String(error.syscall).startsWith("spawn"))) throw error;
    throw new LeftoffError({
      code: "not_found",
      message: `could not start the engine "${name}": ${error.message}`,
      cause: error,
    });
  } finally {
    timers.forEach(clearTimeout);
    for (const [signal, listener] of heard) process.off(signal, listener);
  }
}

/**
 * Ends a process with whatever it has started.
 * @param {import("node:child_process").ChildProcess} child
 * @param {NodeJS.Signals} signal
 * @param {boolean} isGroup
 */
function killProcess(child, signal, isGroup) {
  if (child.pid === undefined || child.exitCode !== null) return;
  try {
    if (isGroup) process.kill(-child.pid, signal);
    else child.kill(signal);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
