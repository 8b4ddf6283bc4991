// @ts-check
// Whatever the known agents keep on a machine comes into the store, every day again.
// Tries: js/agents/files.js, js/agents/transcript-locations.js, src/interop/locations.rs,
// src/operation/store/import/imported_files.rs
import assert from "node:assert/strict";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

import { openStore } from "../../js/index.js";

const fixtures = fileURLToPath(new URL("../fixtures/", import.meta.url));
const CLAUDE = "claude-code/real/2.1.329/a1ec06f7-8d81-4715-aba2-72b09c413bbd.jsonl";
const CODEX = "codex/real/0.169.0/rollout-2026-11-20T23-55-48-01a1fb63-41c8-71e1-8bc3-8044d2bc8ec3.jsonl";

const CHAT = "vscode/hand/chatSessions/0c8f3a9e-0000-4000-8000-000000000001.jsonl";
const TRANSCRIPT = "vscode/hand/transcripts/0c8f3a9e-0000-4000-8000-000000000002.jsonl";

/** A machine's home with sessions of two agents, and a file that is none. */
function machine() {
  const home = mkdtempSync(join(tmpdir(), "leftoff-import-"));
  /** @param {string} name @param {string} fixture */
  const put = (name, fixture) => {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    cpSync(join(fixtures, fixture), join(home, name));
    return join(home, name);
  };
  const claude = put(".claude/projects/-home-dev-project/one.jsonl", CLAUDE);
  const codex = put(
    ".codex/sessions/2026/11/20/rollout-2026-11-20T23-55-48-01a1fb63-41c8-71e1-8bc3-8044d2bc8ec3.jsonl",
    CODEX,
  );
  writeFileSync(join(home, ".claude", "projects", "notes.jsonl"), "no session\n");
  return { home, claude, codex };
}

/** What may name another folder of an agent's. */
const FOLDERS = [
  "XDG_DATA_HOME",
  "CLAUDE_CONFIG_DIR",
  "CODEX_HOME",
  "GEMINI_CLI_HOME",
  "QWEN_HOME",
  "COPILOT_HOME",
  "CONTINUE_GLOBAL_DIR",
  "NANOCODER_DATA_DIR",
  "PI_CODING_AGENT_DIR",
];

/**
 * @param {string} home
 * @param {(importAll: () => Promise<import("../../js/types/index.js").ImportResult>, store: import("../../js/store/store.js").Store) => Promise<void>} work
 */
async function daily(home, work) {
  const before = { ...process.env };
  for (const name of FOLDERS) delete process.env[name];
  process.env.HOME = home;
  const store = await openStore({ home: join(home, ".leftoff"), project: home });
  try {
    await work(() => store.importAll(), store);
  } finally {
    await store.close();
    Object.assign(process.env, before);
    rmSync(home, { recursive: true });
  }
}

test("each agent's files are found where it keeps them, read once, and again only where they have changed", async () => {
  const { home, claude } = machine();
  await daily(home, async (importAll) => {
    const first = await importAll();
    assert.deepEqual(first.imported.map(({ agent }) => agent).sort(), ["claude-code", "codex"]);
    assert.deepEqual(first.problems, []);
    const second = await importAll();
    assert.deepEqual([second.imported, second.unchanged], [[], 3]);
    appendFileSync(claude, "\n");
    const third = await importAll();
    assert.deepEqual([third.imported.map(({ path }) => path), third.unchanged], [[claude], 2]);
  });
});

test("VS Code's chats are found with the folder of their workspace, and a server's transcripts", async () => {
  const home = mkdtempSync(join(tmpdir(), "leftoff-import-"));
  const [user, remote] = [".local/share/code-server/User", ".vscode-server/data/User"].map((name) => join(home, name));
  const workspace = join(user ?? "", "workspaceStorage", "w");
  const chat = join(workspace, "chatSessions", "c.jsonl");
  const lines = readFileSync(join(fixtures, CHAT), "utf8").split(/(?<=\n)/);
  const files = {
    // The first answer has not ended.
    [chat]: lines.slice(0, 3).join(""),
    [join(workspace, "workspace.json")]: JSON.stringify({ folder: pathToFileURL(home) }),
    [join(workspace, "chatEditingSessions", "c", "state.json")]: "{}",
    [join(remote ?? "", "workspaceStorage", "r", "GitHub.copilot-chat", "transcripts", "t.jsonl")]: readFileSync(
      join(fixtures, TRANSCRIPT),
    ),
  };
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  await daily(home, async (importAll, store) => {
    const first = await importAll();
    assert.deepEqual(first.problems, []);
    assert.deepEqual(
      first.imported.map(({ agent }) => agent),
      ["vscode", "vscode"],
    );
    writeFileSync(chat, lines.join(""));
    const [imported] = (await importAll()).imported;
    const session = await store.session(imported?.id ?? "");
    assert.equal(realpathSync(session.metadata.project.path ?? ""), realpathSync(home));
    const said = [];
    for await (const { role, content, source } of session.messages())
      said.push(`${role} ${content}${source && "isPending" in source ? " (pending)" : ""}`);
    assert.deepEqual(said.slice(0, 3), ["user Why does the test fail?", "assistant I run it.", "tool 1 failed"]);
    assert.ok(!said.some((one) => one.endsWith("(pending)")), said.join("\n"));
  });
});

test("a folder is imported with all that is in it, and says how far it is", async () => {
  const { home, codex } = machine();
  const store = await openStore({ home: join(home, ".leftoff"), project: home });
  try {
    /** @type {string[]} */
    const told = [];
    const { imported, problems } = await store.import(home, {
      onProgress: ({ path, done, total }) => void told.push(`${done}/${total} ${path}`),
    });
    assert.deepEqual(problems, []);
    assert.deepEqual(imported.map(({ agent }) => agent).sort(), ["claude-code", "codex"]);
    assert.ok(
      told.some((line) => line.endsWith(` ${codex}`)),
      told.join("\n"),
    );
    const again = await store.import(codex);
    assert.deepEqual(
      again.imported.map(({ added }) => added),
      [0],
    );
    await assert.rejects(store.import(home, { from: "nobody" }), {
      code: "invalid_request",
      message: /claude-code, codex/,
    });
    await assert.rejects(store.import(codex, { from: "nobody" }), { code: "invalid_request" });
    await assert.rejects(store.import(codex, { from: "claude-code" }), { code: "unknown_format" });
  } finally {
    await store.close();
    rmSync(home, { recursive: true });
  }
});

test("OpenCode's database and its older folders are imported a session at a time, again only where they have changed", async () => {
  const home = mkdtempSync(join(tmpdir(), "leftoff-import-"));
  const data = join(home, ".local", "share", "opencode");
  mkdirSync(data, { recursive: true });
  const real = readdirSync(join(fixtures, "opencode"), { recursive: true, encoding: "utf8" }).find((name) =>
    name.endsWith("opencode.db"),
  );
  assert.ok(real);
  for (const ending of ["", "-wal"])
    cpSync(join(fixtures, "opencode", `${real}${ending}`), join(data, `opencode.db${ending}`));
  cpSync(join(fixtures, "opencode/agent-sessions/storage_v2"), join(data, "storage"), { recursive: true });
  await daily(home, async (importAll) => {
    const first = await importAll();
    assert.deepEqual(first.problems, []);
    assert.deepEqual([...new Set(first.imported.map(({ agent }) => agent))], ["opencode"]);
    assert.ok(
      first.imported.some(({ path }) => path.endsWith("opencode.db")) &&
        first.imported.some(({ path }) => path.endsWith("storage")),
    );
    assert.ok(first.imported.every(({ messageCount, added }) => messageCount > 0 && messageCount === added));
    const second = await importAll();
    assert.deepEqual([second.imported, second.unchanged], [[], 2]);
    appendFileSync(join(data, "opencode.db-wal"), "x");
    assert.equal((await importAll()).unchanged, 1);
  });
});

test("what was imported is counted by a reading of the file that shares nothing with it", async () => {
  const { home, codex } = machine();
  const store = await openStore({ home: join(home, ".leftoff"), project: home });
  try {
    const {
      imported: [one],
    } = await store.import(codex);
    const results = readFileSync(codex, "utf8")
      .split("\n")
      .filter((line) => line.includes('"type":"function_call_output"'));
    const session = await store.session(/** @type {string} */ (one?.id));
    let stored = 0;
    for await (const { role } of session.messages()) stored += role === "tool" ? 1 : 0;
    assert.equal(stored, results.length);
    assert.ok(stored > 0);
  } finally {
    await store.close();
    rmSync(home, { recursive: true });
  }
});

test("a rollout that Codex has compressed is the same session; one that is cut is refused, and the others come in", async () => {
  const { home, codex } = machine();
  const compressed = readFileSync(join(fixtures, "compressed", `${basename(codex)}.zst`));
  const store = await openStore({ home: join(home, ".leftoff"), project: home });
  try {
    const folder = join(home, "archive");
    mkdirSync(folder);
    writeFileSync(join(folder, `${basename(codex)}.zst`), compressed);
    const {
      imported: [packed],
    } = await store.import(join(folder, `${basename(codex)}.zst`));
    const {
      imported: [plain],
    } = await store.import(codex);
    assert.deepEqual([plain?.id, plain?.messageCount, plain?.added], [packed?.id, packed?.messageCount, 0]);
    assert.ok((packed?.added ?? 0) > 10);
    for (const end of [4, 100, compressed.length - 1]) {
      writeFileSync(join(folder, "cut.jsonl.zst"), compressed.subarray(0, end));
      await assert.rejects(store.import(join(folder, "cut.jsonl.zst")), { code: "damaged" }, `cut at ${end}`);
    }
    assert.equal((await store.import(folder)).imported.length, 1);
  } finally {
    await store.close();
    rmSync(home, { recursive: true });
  }
});
