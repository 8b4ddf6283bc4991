// @ts-check
// The hosts of the component, asked in one way: each step is what to do, with what, in which session.
import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { PYTHON, RUST_HOST } from "../../scripts/toolchain.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const here = join(root, "tests", "component");
const component = join(root, "pkg", "leftoff.component.wasm");

/**
 * @typedef {{ op: string, args?: unknown[], session?: string | null, name?: string, given?: string, output?: string, of?: "transcripts" }} Step `session`: of
 *   which; null is the store; `given`: the session that it is asked about; `output`: the tool output that is saved,
 * JSON
 * @typedef {{ home: string, project: string, planes?: string }} Folders
 * @typedef {{ ask: (step: Step) => Promise<any>, end: () => Promise<unknown> }} Talk
 */

/** @param {Folders} folders @returns {Promise<Talk>} */
export async function inNode(folders) {
  const { Host, bytesOf, know, transcripts } = await import("./host.mjs");
  if (folders.planes) know(folders.planes);
  const host = new Host(folders);
  /** @type {Record<string, any>} */
  const sessions = {};
  /** @param {Step} step */
  const does = async ({ op, args = [], session = "s", name, given, output = "", of }) => {
    if (of) return ofTranscripts(transcripts, op, args);
    Object.assign(host, { given: Buffer.from(output), handed: new Uint8Array() });
    /** @type {string[]} */
    const pages = [];
    const called = op.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
    const resource = session === null ? host.store : sessions[session];
    const about = given === undefined ? args : [sessions[given], ...args];
    const answer = await host.run(resource[called](...about), {
      page: (content) => void pages.push(Buffer.from(bytesOf(content)).toString()),
    });
    if (typeof answer === "string") return pages.length > 0 ? pages : answer || Buffer.from(host.handed).toString();
    sessions[name ?? "s"] = answer;
    return answer.path();
  };
  const ask = async (/** @type {Step} */ step) => {
    try {
      return await does(step);
    } catch (/** @type {any} */ error) {
      throw error.payload ? Object.assign(new Error(error.payload.message), { code: error.payload.code }) : error;
    }
  };
  return { ask, end: async () => {} };
}

/**
 * Their marks, words on their way into one, and how one is read.
 * @param {any} transcripts
 * @param {string} op
 * @param {any[]} args
 */
function ofTranscripts(transcripts, op, args) {
  if (op === "read") return transcripts.read(Buffer.from(args[0]));
  if (op !== "record") {
    const stamp = (/** @type {number} */ nowMs) => ({
      nowMs: BigInt(nowMs),
      offsetMinutes: 0,
      entropy: [0n, 0n, 0n, 0n],
    });
    return transcripts[op](...args.map((arg) => (typeof arg === "number" ? stamp(arg) : (arg ?? undefined))));
  }
  const recorder = new transcripts.Recorder();
  const written = args.map((said) => recorder.feed(Buffer.from(said)));
  return Buffer.concat([...written, recorder.end()]).toString();
}

/** @param {Folders} folders */
export const inPython = (folders) => inProgram(PYTHON, [join(here, "talk.py"), component], folders);

/** @param {Folders} folders */
export const inRust = (folders) => inProgram(RUST_HOST, [(compiled ??= compiledByPython())], folders);

/** The file of what wasmtime compiled the component to, which the host in Rust loads. @type {string | undefined} */
let compiled;
function compiledByPython() {
  const program =
    "import sys, pathlib, host, wasmtime; print(host.compiled(wasmtime.Engine(), pathlib.Path(sys.argv[1])))";
  return execFileSync(PYTHON, ["-c", program, component], { cwd: here, encoding: "utf8" }).trim();
}

/** @param {string} program @param {string[]} args @param {Folders} folders @returns {Promise<Talk>} */
async function inProgram(program, args, { home, project, planes }) {
  const child = spawn(program, [...args, home, project, ...(planes ? [planes] : [])], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise((resolve) => child.on("close", resolve));
  const ask = async (/** @type {Step} */ step) => {
    child.stdin.write(`${JSON.stringify({ args: [], ...step })}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error("expected an answer, but found the end of the program");
    const { answer, code, message } = JSON.parse(value);
    if (code !== undefined) throw Object.assign(new Error(message), { code });
    return answer;
  };
  return { ask, end: () => (child.stdin.end(), ended) };
}
