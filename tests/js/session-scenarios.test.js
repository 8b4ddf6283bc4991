// @ts-check
// The scenarios of requirements SESS-001 to SESS-006 (docs/ORIGINS.md), one test for each: with the library, the
// command line and git. What an agent says is what the command that it runs prints.
// Tries: js/cli/, js/store/store.js, js/session/session.js
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { LeftoffError, openStore } from "../../js/index.js";
import { filesOf, git, inFolder, put } from "./git-tools.js";
import { nodePath } from "./node-path.js";

/** @typedef {import("../../js/store/store.js").Store} Store */
/** @typedef {{ status: number | null, stdout: string, stderr: string }} CliResult */
/**
 * @typedef {{ project: string, open: (options?: object) => Promise<Store>, typed: (...args: string[]) => CliResult }}
 *   Workspace
 */

const entry = fileURLToPath(new URL("../../pkg/cli.js", import.meta.url));
const MINUTE = 60_000;
/** As the command runs it that agents are given. */
const IN_AGENT = ["--print", "--from", "claude-code"];
const PROMPT = "You help to brainstorm.\n";
const hash = (/** @type {string} */ text) => `sha256:${createHash("sha256").update(text).digest("hex")}`;
const AGENT = {
  command: "/workspace.brainstorm",
  systemPromptHash: hash(PROMPT),
  model: "claude-sonnet-4-5-20250929",
  tools: ["mcp__cortext__search_workspace", "mcp__cortext__get_context"],
};
const SUMMARY = "Exploring REST vs GraphQL, leaning toward REST";
const ago = (/** @type {number} */ minutes) => new Date(Date.now() - minutes * MINUTE).toISOString();
const json = (/** @type {string} */ path) => JSON.parse(fs.readFileSync(path, "utf8"));

/**
 * @param {string} scenario
 * @param {(workspace: Workspace, context: import("node:test").TestContext) => unknown} body
 */
function check(scenario, body) {
  test(scenario, (context) =>
    inFolder(async (folder) => {
      const project = join(folder, "project");
      fs.mkdirSync(project);
      /** @type {Store[]} */
      const stores = [];
      const open = async (/** @type {object | undefined} */ options) => {
        const store = await openStore({ project, workspace: project, countTokens: false, ...options });
        stores.push(store);
        return store;
      };
      const typed = (/** @type {string[]} */ ...args) =>
        spawnSync(nodePath, [entry, ...args], { cwd: project, encoding: "utf8" });
      try {
        await body({ project, open, typed }, context);
      } finally {
        for (const store of stores) await store.close();
      }
    }),
  );
}

/**
 * A brainstorm beside its Markdown, of two exchanges that ended so many minutes ago.
 * @param {Store} store
 * @param {{ title?: string, name?: string, minutes?: number, type?: string }} [about]
 */
async function brainstorm(store, { title = "API Design Discussion", name, minutes = 1, type = "brainstorm" } = {}) {
  const session = await store.create({ type, title, name, placement: "workspace", agent: AGENT });
  fs.writeFileSync(join(session.path, "..", "brainstorm.md"), `# ${title}\n`);
  await session.append([
    { role: "user", content: "Let's brainstorm API design", timestamp: ago(minutes + 3) },
    { role: "assistant", content: "Great! What's the core problem?", timestamp: ago(minutes + 2) },
    { role: "user", content: "REST or GraphQL?", timestamp: ago(minutes + 1) },
    { role: "assistant", content: "REST is simpler.", timestamp: ago(minutes) },
  ]);
  return session;
}

/** Two that were saved: the one of the document's example, and another one that is older. @param {Store} store */
async function two(store) {
  const auth = await brainstorm(store, { type: "debug", title: "Auth Token Expiry Issue", minutes: 26 * 60 });
  await auth.stop({ summary: "Identified race condition in token refresh" });
  const design = await brainstorm(store, { name: "001-brainstorm-topic", minutes: 2 * 60 });
  await design.stop({ summary: SUMMARY });
  return { auth, design };
}

check("SESS-001: Session state saved when conversation ends", async ({ open, typed }) => {
  const store = await open();
  for (const [verb, status] of [
    ["stop", "paused"],
    ["complete", "completed"],
  ]) {
    const session = await brainstorm(store);
    assert.equal(json(join(session.path, "session.json")).status, "active");
    assert.equal(typed(verb, session.id).status, 0);
    assert.match(
      session.path,
      /conversations[\\/]\d{4}-\d\d-\d\d[\\/]\d{3}-brainstorm-api-design-discussion[\\/]\.session$/,
    );
    assert.equal(json(join(session.path, "session.json")).status, status);
    assert.equal(fs.readFileSync(join(session.path, "messages.jsonl"), "utf8").trim().split("\n").length, 4);
    await session.refresh();
  }
});

check("SESS-001: Session includes agent configuration", async ({ open, typed }) => {
  const session = await brainstorm(await open());
  assert.equal(typed("stop", session.id).status, 0);
  const { command, system_prompt_hash: prompt, model, tools } = json(join(session.path, "session.json")).agent_config;
  assert.deepEqual({ command, systemPromptHash: prompt, model, tools }, AGENT);
});

check("SESS-001: Message history format", async ({ open }) => {
  const session = await brainstorm(await open());
  await session.stop();
  const text = fs.readFileSync(join(session.path, "messages.jsonl"), "utf8");
  assert.ok(text.endsWith("\n"));
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ role }) => role),
    ["user", "assistant", "user", "assistant"],
  );
  assert.ok(
    lines.every(({ content, timestamp }) => typeof content === "string" && !Number.isNaN(Date.parse(timestamp))),
  );
  const times = lines.map(({ timestamp }) => Date.parse(timestamp));
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  );
});

check("SESS-002: Explicit stop command", async ({ open, typed }) => {
  const session = await brainstorm(await open());
  const { status, stdout } = typed("stop");
  assert.equal(status, 0);
  assert.equal(json(join(session.path, "session.json")).status, "paused");
  assert.match(stdout, /^Session saved\.\n/);
  assert.match(stdout, /has been paused\.\nYou can continue later with .*resume/);
});

check("SESS-002: Stop command feedback", async ({ open, typed }) => {
  await brainstorm(await open());
  const { stdout } = typed("stop", "--summary", SUMMARY);
  for (const words of ['Conversation "API Design Discussion" has been paused.', "resume", `Summary: ${SUMMARY}`])
    assert.ok(stdout.includes(words), words);
});

check("SESS-003: List resumable conversations", async ({ open, typed }) => {
  const { auth, design } = await two(await open());
  const { stdout } = typed("resume");
  assert.match(
    stdout,
    /^1\. \[brainstorm\] API Design Discussion\n {3}Last active: 2 hours ago \| Status: paused \| Name: 001-brainstorm-topic \| ID: .*\n {3}Summary: Exploring REST vs GraphQL, leaning toward REST\n/,
  );
  assert.match(
    stdout,
    /\n2\. \[debug\] Auth Token Expiry Issue\n {3}Last active: (yesterday|1 day ago|2 days ago) \| Status: paused \| .*\n {3}Summary: Identified race condition in token refresh\n$/,
  );
  const listed = JSON.parse(typed("resume", "--json").stdout);
  assert.deepEqual(
    listed.map((/** @type {any} */ { id }) => id),
    [design.id, auth.id],
  );
});

check("SESS-003: Resume by selection", async ({ open, typed }) => {
  const { auth, design } = await two(await open());
  typed("resume", ...IN_AGENT);
  for (const [selected, session] of /** @type {const} */ ([
    ["1", design],
    ["2", auth],
    ["graphql", design],
    ["token expiry", auth],
  ])) {
    const { id, block, history } = JSON.parse(typed("resume", selected, ...IN_AGENT, "--json").stdout);
    assert.deepEqual([id, block.includes(session.metadata.display.title), history.length], [session.id, true, 4]);
    assert.equal(json(join(session.path, "session.json")).status, "active");
  }
});

check("SESS-003: Command loading on resume", async ({ open, typed }) => {
  const { design } = await two(await open());
  const { stdout } = typed("resume", design.id, "--print");
  // The command first, then what it is told; it is the session's own, and what it says is read by who runs it, as it is
  // now.
  assert.ok(stdout.startsWith("/workspace.brainstorm\n\n[RESUMED CONVERSATION]\n"));
  assert.ok(stdout.indexOf("[END RESUMED CONTEXT]") < stdout.indexOf("Let's brainstorm API design"));
  assert.equal(JSON.parse(typed("resume", design.id, "--print", "--json").stdout).command, "/workspace.brainstorm");
});

check("SESS-003: Context injection on resume", async ({ open, typed }) => {
  const { design } = await two(await open());
  const { stdout } = typed("resume", design.id, "--print");
  const [, block = "", said = ""] =
    stdout.match(
      /(\[RESUMED CONVERSATION\][\s\S]*\[END RESUMED CONTEXT\])[\s\S]*\n----- [0-9a-f]{32}\n([\s\S]*)\n-----/,
    ) ?? [];
  for (const line of [
    "Conversation: brainstorm / API Design Discussion",
    "Last active: 2 hours ago",
    "Messages: 4 exchanges",
    `Summary: ${SUMMARY}`,
  ])
    assert.ok(block.includes(`\n${line}\n`), line);
  const told = said.split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(
    told.map(({ role, content }) => [role, content]),
    [
      ["user", "Let's brainstorm API design"],
      ["assistant", "Great! What's the core problem?"],
      ["user", "REST or GraphQL?"],
      ["assistant", "REST is simpler."],
    ],
  );
});

check("SESS-003: Command prompt changes since original conversation", async ({ project, open, typed }) => {
  const { design } = await two(await open());
  const resumed = () => typed("resume", design.id, "--print");
  const changed = /instructions of the command \/workspace\.brainstorm changed/;
  assert.doesNotMatch(resumed().stderr, changed);
  const kept = join(project, ".claude", "commands", "workspace.brainstorm.md");
  put(kept, PROMPT);
  assert.doesNotMatch(resumed().stderr, changed);
  // The same words in another client are the same command.
  put(
    join(project, ".gemini", "commands", "workspace.brainstorm.toml"),
    `description = "Thinks along"\nprompt = """${PROMPT}"""\n`,
  );
  fs.rmSync(kept);
  assert.doesNotMatch(resumed().stderr, changed);
  put(kept, "---\ndescription: Thinks along\n---\nYou help to brainstorm, shortly.\n");
  const { stdout, stderr } = resumed();
  assert.match(stderr, changed);
  // Its current version is used.
  assert.ok(stdout.startsWith("You help to brainstorm, shortly.\n\n[RESUMED CONVERSATION]\n"));
  assert.match(stdout, new RegExp(`\nWarning: .*${changed.source}`));
});

check("SESS-003: No resumable conversations", ({ typed }) => {
  const { status, stdout } = typed("resume");
  assert.equal(status, 0);
  assert.match(stdout, /^no sessions here; 'leftoff new' starts one/);
});

check("SESS-004: Resume by conversation ID", async ({ project, open, typed }, context) => {
  const { design } = await two(await open());
  assert.equal(JSON.parse(typed("resume", "001-brainstorm-topic", "--print", "--json").stdout).id, design.id);
  const handed = JSON.parse(typed("resume", "001-brainstorm-topic", "--with", "codex", "--json").stdout);
  assert.equal(handed.command[0], "codex");
  if (spawnSync("script", ["--version"]).status !== 0)
    return context.diagnostic("no terminal can be made here: that the client is started was not tried");
  // A terminal, and the only client on its PATH: it says with what it was started, and what it finds of the
  // conversation.
  const bin = join(project, "bin");
  const sessions = join(process.env.HOME ?? "", ".codex");
  put(
    join(bin, "codex"),
    `#!/bin/sh\necho "started with $*"\nPATH=/usr/bin:/bin; cat $(grep -rl "$2" ${sessions})\n`,
    0o755,
  );
  put(join(project, ".claude", "commands", "workspace.brainstorm.md"), "You help to brainstorm, shortly.\n");
  const started = (/** @type {string} */ how) =>
    spawnSync(
      "script",
      [
        "--quiet",
        "--return",
        "--command",
        `PATH=${bin} ${nodePath} ${entry} resume 001-brainstorm-topic ${how}`,
        "/dev/null",
      ],
      { cwd: project, encoding: "utf8" },
    );
  const { stdout } = started("");
  assert.match(stdout, /started with resume [0-9a-f-]{36}\r?\n/);
  assert.match(stdout, /leftoff: .*the instructions of the command \/workspace\.brainstorm changed/);
  const records = stdout.split(/\r?\n/).flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
  const said = records.flatMap(({ type, payload }) =>
    type === "response_item" && payload.type === "message" ? [[payload.role, payload.content[0].text]] : [],
  );
  const [[role, first], ...history] = said;
  assert.equal(role, "user");
  assert.match(
    first,
    new RegExp(
      `^You help to brainstorm, shortly\\.\n\n\\[RESUMED CONVERSATION\\]\n[^]*\nSummary: ${SUMMARY}\n[^]*\\[END RESUMED CONTEXT\\]`,
    ),
  );
  assert.deepEqual(history, [
    ["user", "Let's brainstorm API design"],
    ["assistant", "Great! What's the core problem?"],
    ["user", "REST or GraphQL?"],
    ["assistant", "REST is simpler."],
  ]);
  const status = () => json(join(design.path, "session.json")).status;
  assert.equal(status(), "active");
  assert.equal(typed("complete", design.id).status, 0);
  assert.equal(started("--override").status, 0);
  assert.equal(status(), "active");
});

check("SESS-004: Resume by search", async ({ open, typed }) => {
  const store = await open();
  const { design } = await two(store);
  assert.equal(JSON.parse(typed("resume", "api design", "--print", "--json").stdout).id, design.id);
  // In summaries, too.
  assert.equal(JSON.parse(typed("resume", "leaning", "rest", "--print", "--json").stdout).id, design.id);
  const other = await brainstorm(store, { title: "API Design of the importer" });
  const { status, stderr } = typed("resume", "api design", "--print");
  // Without a terminal nobody can be asked: they are named, to choose from.
  assert.deepEqual([status, stderr.includes(design.id), stderr.includes(other.id)], [2, true, true]);
});

check("SESS-004: List resumable conversations", async ({ open, typed }) => {
  const { auth, design } = await two(await open());
  const { stdout } = typed("resume", "--list");
  for (const { id, metadata } of [auth, design]) {
    const [line = ""] = stdout.split("\n").filter((text) => text.includes(id));
    assert.match(line, /Last active: .* \| Status: paused \| Name: 001-[a-z-]+ \| ID: /);
    assert.ok(stdout.includes(`[${metadata.type}] ${metadata.display.title}\n`));
  }
});

check("SESS-005: Status transitions", async ({ open }) => {
  const store = await open();
  /** @param {string[]} verbs */
  const after = async (...verbs) => {
    const session = await brainstorm(store);
    for (const verb of verbs)
      await /** @type {any} */ (session)[verb](verb === "resume" ? { window: 8000, encoding: "estimate-1" } : {});
    return json(join(session.path, "session.json")).status;
  };
  assert.equal(await after(), "active");
  assert.equal(await after("stop"), "paused");
  assert.equal(await after("complete"), "completed");
  assert.equal(await after("stop", "resume"), "active");
  assert.equal(await after("stop", "complete"), "completed");
  await assert.rejects(
    after("complete", "stop"),
    (error) => error instanceof LeftoffError && error.code === "invalid_transition",
  );
  // Who types another status by hand has not set one.
  const session = await brainstorm(store);
  const file = join(session.path, "session.json");
  fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace('"active"', '"sleeping"'));
  await session.refresh();
  assert.equal(session.metadata.lifecycle, "active");
});

check("SESS-005: Auto-pause on inactivity", async ({ open, typed }) => {
  const store = await open();
  const [idle, busy] = [
    await brainstorm(store, { minutes: 6 }),
    await brainstorm(store, { minutes: 4, title: "Another" }),
  ];
  await store.close();
  const { stderr } = typed("list");
  assert.deepEqual(
    [idle, busy].map(({ path }) => json(join(path, "session.json")).status),
    ["paused", "active"],
  );
  assert.match(stderr, /paused after 5 minutes without activity; last active /);
  // The period is a setting.
  assert.equal(typed("settings", "idleMinutes", "1").status, 0);
  assert.match(typed("list").stderr, /paused after 1 minute without activity/);
  assert.equal(json(join(busy.path, "session.json")).status, "paused");
});

check("SESS-005: Completed conversations", async ({ open, typed }) => {
  const { design } = await two(await open());
  await design.complete();
  const warned = typed("resume", design.id, ...IN_AGENT);
  assert.match(warned.stderr, /this conversation was marked complete/);
  assert.match(warned.stdout, /\nWarning: this conversation was marked complete\n[\s\S]*\[END RESUMED CONTEXT\]\n/);
  assert.equal(json(join(design.path, "session.json")).status, "completed");
  const insisted = typed("resume", design.id, ...IN_AGENT, "--override");
  assert.ok(!`${insisted.stderr}${insisted.stdout}`.includes("marked complete"));
  assert.equal(json(join(design.path, "session.json")).status, "active");
});

check("SESS-006: Session committed with conversation", async ({ project, open, typed }) => {
  git(project, "init", "--quiet");
  const session = await brainstorm(await open());
  assert.equal(typed("stop", session.id, "--commit").status, 0);
  const names = filesOf(project).map((file) => file.replace(/^conversations\/[^/]+\/[^/]+\//, ""));
  for (const name of ["brainstorm.md", ".session/session.json", ".session/messages.jsonl", ".session/events.jsonl"])
    assert.ok(names.includes(name), name);
  assert.match(git(project, "log", "-1", "--format=%B"), /session saved/);
});

check("SESS-006: Session-only updates", async ({ project, open, typed }) => {
  git(project, "init", "--quiet");
  const session = await brainstorm(await open());
  assert.equal(typed("stop", session.id, "--commit").status, 0);
  assert.equal(typed("resume", session.id, ...IN_AGENT).status, 0);
  await session.append({ role: "user", content: "one more thing" });
  assert.equal(typed("stop", session.id, "--commit").status, 0);
  assert.ok(filesOf(project).every((file) => file.includes("/.session/")));
  assert.match(git(project, "log", "-1", "--format=%B"), /session update/);
});
