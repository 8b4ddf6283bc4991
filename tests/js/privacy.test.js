// @ts-check
// docs/PRIVACY.md says what is kept and who can read it; each claim that can be tried is tried here.
// Tries: docs/PRIVACY.md, js/host/, js/storage/
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { hostname } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { MemoryStorage, countTokens, openStore, readTranscript } from "../../js/index.js";
import { PLACE, aliasesOf, commit, git, inFolder, makeConversation, makeRepository, put } from "./git-tools.js";
import { nodePath } from "./node-path.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = fs.readFileSync(join(root, "docs", "PRIVACY.md"), "utf8");
const transcript = join(root, "tests/fixtures/claude-code/real/2.1.329/a1ec06f7-8d81-4715-aba2-72b09c413bbd.jsonl");
const KEY = "sk-test-0123456789";
const noModes = process.platform === "win32" && "Windows has no modes";

/** A block of the page. @param {string} language */
const block = (language) =>
  page.match(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "s"))?.[1] ?? assert.fail(language);

/** Everything below a folder. @param {string} folder */
const pathsBelow = (folder) =>
  fs.readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));

/** @param {string} folder @returns {Promise<string>} where the session lies */
async function createSession(folder) {
  const store = await openStore({ home: join(folder, "store"), project: folder });
  const session = await store.create({ model: "gpt-5", title: "T" });
  await session.append([
    { role: "user", content: `asked ${KEY}` },
    {
      role: "assistant",
      content: "",
      assistant: {
        reasoning: [{ text: `thought ${KEY}` }],
        toolCalls: [{ id: "1", name: "Read", arguments: `{"path":"${KEY}"}` }],
      },
    },
    { role: "tool", content: `read ${KEY}`, tool: { callId: "1", name: "Read" } },
    { role: "user", content: `${"long ".repeat(60_000)}${KEY} ${"long ".repeat(10_000)}` },
  ]);
  await store.close();
  return session.path;
}

test("what is said, thought, called and read is kept as plain text, and the project's path with it", () =>
  inFolder(async (folder) => {
    const path = await createSession(folder);
    const log = fs.readFileSync(join(path, "messages.jsonl"), "utf8");
    for (const text of [`asked ${KEY}`, `thought ${KEY}`, `\\"path\\":\\"${KEY}`, `read ${KEY}`])
      assert.ok(log.includes(text), text);
    const blobs = pathsBelow(join(path, "blobs")).map((file) => fs.readFileSync(file, "utf8"));
    assert.ok(blobs.some((text) => text.includes(`long ${KEY}`)));
    const events = fs.readFileSync(join(path, "events.jsonl"), "utf8");
    for (const text of [JSON.stringify(folder), '"gpt-5"']) assert.ok(events.includes(text), text);
  }));

test("files are 0600, folders 0700", { skip: noModes }, () =>
  inFolder(async (folder) => {
    await createSession(folder);
    const home = join(folder, "store");
    const all = [home, ...pathsBelow(home)];
    assert.ok(all.length > 8);
    for (const path of all) {
      const found = fs.statSync(path);
      assert.equal((found.mode & 0o777).toString(8), found.isDirectory() ? "700" : "600", path);
    }
  }),
);

test("while a session is open, process and host are named, and no longer", () =>
  inFolder(async (folder) => {
    const home = join(folder, "store");
    const store = await openStore({ home, project: folder });
    const session = await store.create();
    await session.append({ role: "user", content: "1" });
    const place = join(home, "cache", `${session.id}.open`);
    const [lease = ""] = pathsBelow(place);
    const { host, pid } = JSON.parse(fs.readFileSync(lease, "utf8"));
    assert.deepEqual([host, pid], [hostname(), process.pid]);
    await store.close();
    assert.deepEqual(pathsBelow(place), []);
  }));

/** A repository with a committed session in which is a key. @param {string} folder */
async function commitSession(folder) {
  const top = makeRepository(join(folder, "top"));
  const conversation = makeConversation(top);
  fs.cpSync(await createSession(folder), join(conversation, ".session"), { recursive: true });
  await commit({ folder: conversation, title: "T" });
  return { top, conversation };
}

test("a commit publishes all of it; git keeps no modes", { skip: noModes }, () =>
  inFolder(async (folder) => {
    const { top, conversation } = await commitSession(folder);
    assert.equal((fs.statSync(join(conversation, ".session", "messages.jsonl")).mode & 0o777).toString(8), "600");
    assert.match(git(top, "diff", "HEAD~1", "HEAD"), new RegExp(`read ${KEY}`));
    execFileSync("sh", ["-c", "umask 022; git clone --quiet top clone"], { cwd: folder });
    const cloned = join(folder, "clone", PLACE, ".session");
    for (const path of pathsBelow(cloned)) {
      const found = fs.statSync(path);
      assert.equal((found.mode & 0o777).toString(8), found.isDirectory() ? "755" : "644", path);
    }
    assert.ok(fs.readFileSync(join(cloned, "messages.jsonl"), "utf8").includes(`thought ${KEY}`));
  }),
);

test("the history keeps what is deleted later", () =>
  inFolder(async (folder) => {
    const { top, conversation } = await commitSession(folder);
    fs.rmSync(join(conversation, ".session"), { recursive: true });
    git(top, "commit", "--quiet", "--all", "--message=deleted");
    assert.equal(git(top, "ls-files", "--", "*.session*"), "");
    assert.match(git(top, "log", "--patch", `-S${KEY}`), new RegExp(`read ${KEY}`));
  }));

test("one line keeps sessions out of a repository; the Markdown is still committed", () =>
  inFolder(async (folder) => {
    const top = makeRepository(join(folder, "top"));
    const conversation = makeConversation(top);
    put(join(top, ".gitignore"), block("gitignore"));
    await assert.rejects(commit({ folder: conversation, title: "T" }), { code: "session_ignored" });
    git(top, "add", ".");
    assert.deepEqual(git(top, "diff", "--cached", "--name-only").trim().split("\n"), [
      ".gitignore",
      `${PLACE.replaceAll("\\", "/")}/brainstorm.md`,
    ]);
  }));

test("what was committed before stays until it is taken out as the page says, and the files with it", () =>
  inFolder(async (folder) => {
    const { top, conversation } = await commitSession(folder);
    put(join(top, ".gitignore"), block("gitignore"));
    git(top, "add", ".");
    assert.match(git(top, "ls-files"), /\.session/);
    execFileSync("sh", ["-ec", block("sh")], { cwd: top, stdio: "pipe" });
    assert.doesNotMatch(git(top, "ls-tree", "-r", "--name-only", "HEAD"), /\.session/);
    assert.match(git(top, "ls-tree", "-r", "--name-only", "HEAD"), /brainstorm\.md/);
    assert.equal(git(top, "status", "--porcelain"), "");
    assert.ok(fs.existsSync(join(conversation, ".session", "messages.jsonl")));
    assert.match(git(top, "log", "--patch", `-S${KEY}`), new RegExp(`read ${KEY}`));
  }));

test("no file can open a connection but those for pages, which no file for Node imports, and the server of `leftoff view`, and only six can run a program: git, the agent that a session is handed to, the engine that is asked, the pager, a hook, for its recorder, and the extension of VS Code, for the command line", () => {
  const files = pathsBelow(join(root, "js")).filter((file) => file.endsWith(".js"));
  assert.ok(files.length > 20);
  const network =
    /(?:from|import|require)\s*\(?\s*["'](?:node:)?(?:https?|http2|net|tls|dgram|dns|inspector)(?:\/promises)?["']|\b(?:fetch|WebSocket|EventSource|XMLHttpRequest|sendBeacon)\s*\(/;
  assert.match('import { connect } from "node:net"; ', network);
  const isIn = (/** @type {RegExp} */ pattern) =>
    files.filter((file) => pattern.test(fs.readFileSync(file, "utf8").replace(/^\s*(\/\/|\/?\*).*$/gm, "")));
  const js = (/** @type {string[]} */ ...paths) => paths.map((path) => join(root, "js", ...path.split("/"))).sort();
  const asking = ["host/fetch-bytes.js", "viewer/remote-storage.js", "viewer/served.js", "vscode/webview/page.js"];
  assert.deepEqual(isIn(network).sort(), js(...asking, "cli/view/server.js"));
  assert.deepEqual(isIn(/\/(?:remote-storage|served)\.js"/).sort(), js("viewer/page.js", "viewer/served.js"));
  assert.deepEqual(isIn(/webview\/page\.js"/), []);
  assert.deepEqual(isIn(/view\/server\.js"/), js("cli/view.js"));
  assert.deepEqual(isIn(/from "open"/), js("cli/view.js"));
  assert.deepEqual(
    isIn(/fetch-bytes\.js"/).sort(),
    ["assets.web.js", "assets.workerd.js"].map((name) => join(root, "js", "host", name)),
  );
  assert.deepEqual(isIn(/child_process/).sort(), [
    join(root, "js", "agents", "native.js"),
    join(root, "js", "cli", "ask", "engine.js"),
    join(root, "js", "cli", "hooks", "front.js"),
    join(root, "js", "cli", "pager.js"),
    join(root, "js", "placement", "git.js"),
    join(root, "js", "vscode", "child.node.js"),
  ]);
});

// Whoever opens a connection in Node comes by one of these.
const TRAP = `
  import net from "node:net"; import dgram from "node:dgram"; import dns from "node:dns";
  globalThis.tried = [];
  const trap = (name) => () => { globalThis.tried.push(name); throw new Error("no network"); };
  net.Socket.prototype.connect = trap("connect"); net.Server.prototype.listen = trap("listen");
  dgram.Socket.prototype.send = trap("send"); dns.lookup = trap("lookup"); globalThis.fetch = trap("fetch");`;

test("nothing that leftoff does opens a connection", () =>
  inFolder(async (folder) => {
    const conversation = makeConversation(makeRepository(join(folder, "top")));
    const work = `
      import http from "node:http";
      import { openStore } from ${JSON.stringify(new URL("../../js/index.js", import.meta.url).href)};
      import { aliasesOf, commit } from ${JSON.stringify(new URL("git-tools.js", import.meta.url).href)};
      const store = await openStore({ home: ${JSON.stringify(join(folder, "store"))}, project: ${JSON.stringify(folder)} });
      const { imported: [{ id }] } = await store.import(${JSON.stringify(transcript)});
      const session = await store.session(id);
      await session.append({ role: "user", content: "https://example.org/" });
      await session.resume({ window: 8000 });
      await session.examine();
      await store.list({ all: true });
      await store.close();
      await aliasesOf(${JSON.stringify(conversation)});
      await commit({ folder: ${JSON.stringify(conversation)}, title: "T" });
      const before = globalThis.tried.length;
      try { http.get("http://127.0.0.1:9/").on("error", () => {}); } catch {}
      console.log(JSON.stringify([before, globalThis.tried.length]));`;
    const args = ["--import", `data:text/javascript,${encodeURIComponent(TRAP)}`, "--input-type=module", "-e", work];
    // The last one is the test's own: the trap is one.
    assert.deepEqual(JSON.parse(execFileSync(nodePath, args, { encoding: "utf8" })), [0, 1]);
  }));

test(
  "of git it uses what works on this machine",
  { skip: process.platform === "win32" && "needs a shell script" },
  () =>
    inFolder(async (folder) => {
      const top = makeRepository(join(folder, "top"));
      git(top, "remote", "add", "origin", "https://user:token@example.org/a/b");
      const conversation = makeConversation(top);
      const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
      put(
        join(folder, "bin", "git"),
        // In one write: git is asked several things at once.
        `#!/bin/sh\nasked=$(printf '%s\\001' "$@")\nprintf '%s\\n' "$asked" >> "${folder}/asked"\nexec "${real}" "$@"\n`,
        0o755,
      );
      process.env.PATH = [join(folder, "bin"), process.env.PATH].join(delimiter);
      await commit({ folder: conversation, title: "T" });
      await assert.rejects(commit({ folder: join(top, "missing"), title: "T" }));
      put(join(top, ".gitignore"), "*.new\n");
      put(join(conversation, ".session", "blobs", "a.new"), "");
      await assert.rejects(commit({ folder: conversation, title: "T" }), { code: "session_ignored" });
      assert.doesNotMatch(JSON.stringify(await aliasesOf(top)), /user|token/);
      const asked = fs
        .readFileSync(join(folder, "asked"), "utf8")
        .trim()
        .split("\n")
        .map((line) => line.split("\x01"));
      const commands = asked.map((args) => args.filter((arg, at) => !arg.startsWith("-") && args[at - 1] !== "-c"));
      const LOCAL = [
        "rev-parse",
        "rev-list",
        "remote get-url",
        "remote",
        "ls-files",
        "check-ignore",
        "diff",
        "add",
        "update-index",
        "commit",
        "hash-object",
      ];
      for (const [command, next] of commands)
        assert.ok(
          LOCAL.includes(command === "remote" && next ? `${command} ${next}` : `${command}`),
          `${command} ${next}`,
        );
      assert.ok(commands.some(([command]) => command === "commit"));
    }),
);

test("to read a transcript, to count, and a store in memory keep nothing", () =>
  inFolder(async (folder) => {
    const before = pathsBelow(folder);
    await (await readTranscript(transcript)).context({ window: 8000 });
    await countTokens(KEY);
    const store = await openStore({ project: folder, storage: new MemoryStorage() });
    await (await store.create()).append({ role: "user", content: KEY });
    await store.close();
    assert.deepEqual(pathsBelow(folder), before);
  }));

/** A workspace in a repository with one conversation and its session. @param {string} folder */
async function workspace(folder) {
  const project = join(folder, "project");
  makeRepository(project);
  const store = await openStore({ home: join(folder, "store"), project, workspace: project });
  const session = await store.create({ type: "brainstorm", title: "T" });
  put(join(session.path, "..", "brainstorm.md"), "# T\n");
  await session.append({ role: "user", content: `asked ${KEY}` });
  await session.stop();
  return { store, session, project };
}

test("in a workspace files are 0600, folders 0700, and no event names a path of the machine", { skip: noModes }, () =>
  inFolder(async (folder) => {
    const { store, session } = await workspace(folder);
    await store.close();
    for (const path of [session.path, ...pathsBelow(session.path)]) {
      const found = fs.statSync(path);
      assert.equal((found.mode & 0o777).toString(8), found.isDirectory() ? "700" : "600", path);
      if (found.isFile()) assert.ok(!fs.readFileSync(path, "utf8").includes(folder), path);
    }
  }),
);

test("leftoff commit refuses where .session/ is ignored, and commits both where it is not", () =>
  inFolder(async (folder) => {
    const { store, session, project } = await workspace(folder);
    put(join(project, ".gitignore"), block("gitignore"));
    await assert.rejects(store.commit(session), (/** @type {any} */ error) => error.code === "session_ignored");
    fs.rmSync(join(project, ".gitignore"));
    const { files } = await store.commit(session);
    await store.close();
    for (const name of ["brainstorm.md", ".session/messages.jsonl", ".session/session.json"])
      assert.ok(files.includes(name), name);
  }));

test("where .session/ is deleted, the Markdown stays, commands go on, and the home has no second copy", () =>
  inFolder(async (folder) => {
    const { store, session } = await workspace(folder);
    await store.close();
    fs.rmSync(session.path, { recursive: true });
    assert.ok(fs.existsSync(join(session.path, "..", "brainstorm.md")));
    const again = await openStore({ home: join(folder, "store"), project: join(folder, "project") });
    assert.deepEqual(await again.list({ all: true }), []);
    await assert.rejects(again.session(session.id), (/** @type {any} */ error) => error.code === "not_found");
    await (await again.create()).append({ role: "user", content: "goes on" });
    await again.close();
    fs.rmSync(join(folder, "store", "cache"), { recursive: true });
    fs.rmSync(join(folder, "store", "sessions", "index.jsonl"), { force: true });
    for (const path of pathsBelow(join(folder, "store")))
      if (fs.statSync(path).isFile()) assert.ok(!fs.readFileSync(path, "utf8").includes(KEY), path);
  }));

test("what is deleted lies in the trash, readable, and what is purged lies nowhere", () =>
  inFolder(async (folder) => {
    const { store, session } = await workspace(folder);
    const other = await store.create({ placement: "home" });
    await other.append({ role: "user", content: `home ${KEY}` });
    const trashed = [];
    for (const one of [session, other]) trashed.push((await store.delete(one)).trash ?? assert.fail("no trash"));
    for (const path of trashed) assert.ok(fs.readFileSync(join(path, "messages.jsonl"), "utf8").includes(KEY), path);
    assert.deepEqual(await store.list({ all: true }), []);
    assert.ok(fs.existsSync(join(session.path, "..", "brainstorm.md")));
    const begun = await store.create({ placement: "home" });
    await begun.append({ role: "user", content: "purged words" });
    await begun.close();
    await store.list();
    const gone = await store.session(begun.id);
    await store.delete(gone, { purge: true });
    await store.close();
    for (const path of pathsBelow(join(folder, "store")))
      if (fs.statSync(path).isFile()) assert.ok(!fs.readFileSync(path, "utf8").includes("purged words"), path);
  }));
