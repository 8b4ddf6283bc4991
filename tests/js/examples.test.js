// @ts-check
// Each example that a public function's documentation has is run, and every public function has one. In an example
// `x; // => y` says that x is y.
// Tries: js/index.js, js/ai/index.js, js/html/index.js, js/session/session.js, js/store/store.js, js/compat/index.js
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { AIMessage, HumanMessage } from "@langchain/core/messages";

import * as ai from "../../js/ai/index.js";
import * as compat from "../../js/compat/index.js";
import * as leftoff from "../../js/index.js";
import { sessionStore } from "../../js/claude/index.js";
import { exportHtml } from "../../js/html/index.js";
import * as langchain from "../../js/langchain/index.js";
import * as openai from "../../js/openai/index.js";
import { recorder } from "../../js/opencode/index.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const transcriptPath = join(root, "tests/fixtures/claude-code/real/2.1.329/a1ec06f7-8d81-4715-aba2-72b09c413bbd.jsonl");
/** Every file that has an example. */
const files = readdirSync(join(root, "js"), { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  // The viewer is a page: it is tried in a browser.
  .filter((path) => path.endsWith(".js") && !path.startsWith("viewer/"))
  .sort();
/** What OpenCode gives to plugins, where nothing was said yet. */
const client = {
  session: { get: async () => ({ data: { id: "ses_1" } }), messages: async () => ({ data: [] }) },
};
const Async = /** @type {any} */ (async () => {}).constructor;

/** The examples of a file, each with what it is of. @param {string} file */
function examplesIn(file) {
  const text = readFileSync(join(root, "js", file), "utf8");
  return [...text.matchAll(/\/\*\*((?:(?!\*\/)[^])*)\*\/\s*([^\n]*)/g)].flatMap(([, doc = "", code = ""]) => {
    const [, ...examples] = doc.replace(/^\s*\* ?/gm, "").split("@example");
    return examples.map((one, place) => ({
      name: `${file}: ${code.replace(/[({].*/, "").trim()}${place > 0 ? `, ${place + 1}` : ""}`,
      code: one.trim(),
    }));
  });
}

/** @param {string} code */
function asserting(code) {
  // In a block, where it may have names of its own.
  return `{ ${code.replace(/^(.*; )?([^;]*); \/\/ => (.*)$/gm, "$1 assert.deepEqual(await ($2), $3);")} }`;
}

/** @param {(folder: string) => Promise<void>} work */
async function inHome(work) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-examples-")));
  const { HOME, LEFTOFF_HOME } = process.env;
  // What an example imports or hands over belongs to nobody.
  Object.assign(process.env, { HOME: folder, LEFTOFF_HOME: join(folder, "home") });
  try {
    await work(folder);
  } finally {
    Object.assign(process.env, { HOME });
    if (LEFTOFF_HOME === undefined) delete process.env.LEFTOFF_HOME;
    else process.env.LEFTOFF_HOME = LEFTOFF_HOME;
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} code @param {Record<string, unknown>} given */
const run = (code, given) => new Async(...Object.keys(given), asserting(code))(...Object.values(given));

/** @param {string} project */
function inRepository(project) {
  const git = (/** @type {string[]} */ ...args) => execFileSync("git", args, { cwd: project });
  git("init", "--quiet");
  git("config", "user.name", "Ann");
  git("config", "user.email", "ann@example.org");
}

for (const { name, code } of files.filter((file) => !file.startsWith("compat/")).flatMap(examplesIn)) {
  test(name, () =>
    inHome(async (folder) => {
      const project = join(folder, "project");
      mkdirSync(project);
      if (code.includes(".commit(")) inRepository(project);
      const store = await leftoff.openStore({ project });
      // One of its own, so that `store` has none.
      const another = await leftoff.openStore({ project: folder, home: join(folder, "another") });
      const session = await another.create();
      try {
        const given = {
          ...leftoff,
          ...ai,
          ...langchain,
          exportHtml,
          AIMessage,
          HumanMessage,
          assert,
          folder: project,
          transcriptPath,
          store,
          session,
          recorder,
          sessionStore,
          client,
        };
        const memory = openai.session({ store, id: "chat 42" });
        await run(code, name.startsWith("openai/") ? { ...given, ...openai, memory } : given);
      } finally {
        await another.close();
        await store.close();
      }
    }),
  );
}

for (const { name, code } of files.filter((file) => file.startsWith("compat/")).flatMap(examplesIn)) {
  test(name, () =>
    inHome(async (folder) => {
      const project = join(folder, "project");
      mkdirSync(project);
      const manager = new compat.SessionManager();
      const contexts = new compat.ContextManager({ sessionId: "session-abc123" });
      try {
        const session = name.startsWith("compat/index.js: export class SessionManager")
          ? undefined
          : await manager.createSession(project, { type: "openai", model: "gpt-5", contextWindow: 128_000 });
        await run(code, { ...compat, assert, folder: project, manager, session, contexts });
      } finally {
        await contexts.close();
        await manager.close();
      }
    }),
  );
}

test("every public function of the front door has an example, and says what it throws or cannot throw but the storage's codes", () => {
  /** @type {string[]} */
  const without = [];
  for (const file of files.filter((path) => !path.startsWith("compat/"))) {
    const types = join(root, "types", file.replace(/\.js$/, ".d.ts"));
    if (!existsSync(types)) continue;
    const text = readFileSync(types, "utf8");
    for (const [, doc = "", name] of text.matchAll(
      /(?:\/\*\*((?:(?!\*\/)[^])*)\*\/\s*)?(?:export declare (?:function|class)|^ {4})(?: async)? ?\*?(\w+)[<(]/gm,
    )) {
      if (name !== "constructor" && !file.startsWith("storage/") && !doc.includes("@example"))
        without.push(`${file}: ${name}`);
    }
  }
  assert.deepEqual(without, []);
});
