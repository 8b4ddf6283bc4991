// @ts-check

/** What the tests of the file storage share. */

import { execFile, spawnSync } from "node:child_process";
import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mock, test } from "node:test";
import { promisify } from "node:util";

import { NodeStorage } from "../../js/storage/node.js";
import { nodePath } from "./node-path.js";

const MODULE = new URL("../../js/storage/node.js", import.meta.url).href;

export const LINE = new TextEncoder().encode("a line\n");

/** An empty folder. Its path has no link in it, so that /proc shows the same; by its mode no storage made it. */
export function makeRoot() {
  const root = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), "leftoff-storage-"));
  fs.chmodSync(root, 0o755);
  return root;
}

/**
 * A test with a file storage and a folder of its own.
 *
 * @param {string} law
 * @param {(storage: NodeStorage, root: string) => unknown} body
 * @param {string | false} [skip] why it cannot run here
 */
export function check(law, body, skip = false) {
  test(law, { skip }, async () => {
    const root = makeRoot();
    const storage = new NodeStorage();
    try {
      await body(storage, root);
    } finally {
      mock.restoreAll();
      await storage.close();
      fs.rmSync(root, { recursive: true });
    }
  });
}

/** A storage with a root that does what it does where there is no /proc. @param {string} root it is there */
export async function withoutProc(root) {
  const { platform } = process;
  const storage = new NodeStorage({ root });
  Object.defineProperty(process, "platform", { value: "darwin" });
  try {
    await storage.stat(root);
  } finally {
    Object.defineProperty(process, "platform", { value: platform });
  }
  return storage;
}

/**
 * Runs code in a process of its own, with a `storage`, its arguments in `args`, `fs`, and `caught` for errors. What
 * the code returns comes back.
 *
 * @param {string[]} before the command that starts it, for what only a fresh process can have
 * @param {string} code
 * @param {...unknown} args
 */
export async function inProcess(before, code, ...args) {
  const script = `
    import fs from "node:fs";
    import { NodeStorage } from ${JSON.stringify(MODULE)};
    const storage = new NodeStorage();
    const args = JSON.parse(process.argv[1]);
    const caught = (promise) => promise.then(() => null, ({ code, written, message }) => ({ code, written, message }));
    const result = await (async () => { ${code} })();
    fs.writeSync(1, JSON.stringify(result) ?? "null");`;
  const command = [...before, nodePath, "--input-type=module", "-e", script, JSON.stringify(args)];
  const { stdout } = await promisify(execFile)(command[0], command.slice(1), { maxBuffer: 1 << 26 });
  return JSON.parse(stdout);
}

/** @param {...string} command @returns {string | false} why the command cannot be used here */
export function missing(...command) {
  const { status, error, stderr } = spawnSync(command[0], command.slice(1), { encoding: "utf8" });
  if (status === 0) return false;
  return `not run: "${command.join(" ")}" does not work here: ${error?.message ?? stderr.trim()}`;
}

export const POSIX = process.platform === "win32" ? "not run: Windows has no modes" : false;
export const PROC = fs.existsSync("/proc/self/fd") ? false : "not run: only /proc tells which files are open";
