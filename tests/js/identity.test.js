// @ts-check
// Which sessions are a project's: in whatever folder it lies, and however that is spelled.
// Tries: src/project/, src/layout/pointer.rs, src/operation/store/project.rs, src/operation/store/current_session.rs
import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { openStore } from "../../js/index.js";
import { git, inFolder } from "./git-tools.js";

/** @param {string} folder */
function repository(folder) {
  fs.mkdirSync(folder, { recursive: true });
  git(folder, "init", "--quiet");
  fs.writeFileSync(join(folder, "file"), folder);
  git(folder, "add", ".");
  git(folder, "commit", "--quiet", "--message=first");
}

/** @param {string} home @param {string} project */
async function createSession(home, project) {
  const store = await openStore({ home, project });
  const session = await store.create();
  await session.append({ role: "user", content: project });
  await store.close();
  return session.id;
}

/**
 * The ids that are listed for a project, and the one that is gone on with.
 * @param {string} home
 * @param {string} project
 */
async function listAndContinue(home, project) {
  const store = await openStore({ home, project });
  const ids = (await store.list()).map(({ id }) => id);
  const { id } = await store.continue();
  await store.close();
  return { ids, continued: ids.includes(id) ? id : "a new one" };
}

/** @param {string} law @param {(folder: string, home: string) => Promise<void>} body */
function check(law, body) {
  test(law, () => inFolder(async (folder) => body(folder, join(folder, "store"))));
}

check("a project that was renamed or moved finds its sessions, and goes on with them", async (folder, home) => {
  repository(join(folder, "a"));
  const id = await createSession(home, join(folder, "a"));
  fs.renameSync(join(folder, "a"), join(folder, "b"));
  assert.deepEqual(await listAndContinue(home, join(folder, "b")), { ids: [id], continued: id });
  fs.mkdirSync(join(folder, "deep"));
  fs.renameSync(join(folder, "b"), join(folder, "deep", "c"));
  assert.deepEqual(await listAndContinue(home, join(folder, "deep", "c")), { ids: [id], continued: id });
});

check("a second clone and a worktree list the sessions, and go on with their own", async (folder, home) => {
  const first = join(folder, "first");
  repository(first);
  const id = await createSession(home, first);
  git(folder, "clone", "--quiet", first, "second");
  git(first, "worktree", "add", "--quiet", join(folder, "tree"));
  for (const other of ["second", "tree"]) {
    const itsHome = join(folder, `home of ${other}`);
    fs.cpSync(home, itsHome, { recursive: true });
    assert.deepEqual(await listAndContinue(itsHome, join(folder, other)), { ids: [id], continued: "a new one" }, other);
  }
});

check("a fork and another repository are other projects", async (folder, home) => {
  const first = join(folder, "first");
  repository(first);
  git(first, "remote", "add", "origin", "https://example.com/us/it.git");
  await createSession(home, first);
  fs.cpSync(first, join(folder, "fork"), { recursive: true });
  git(join(folder, "fork"), "remote", "set-url", "origin", "https://example.com/them/it.git");
  repository(join(folder, "other"));
  for (const other of ["fork", "other"])
    assert.deepEqual((await listAndContinue(home, join(folder, other))).ids, [], other);
});

check("a link to a project, and a path with dots, is the project", async (folder, home) => {
  const project = join(folder, "p");
  fs.mkdirSync(project);
  const id = await createSession(home, project);
  fs.symlinkSync(project, join(folder, "link"));
  for (const other of [join(folder, "link"), `${project}/../p/`, `${project}/.`])
    assert.deepEqual((await listAndContinue(home, other)).ids, [id], other);
});

check("a folder without a repository that was moved is relocated by name", async (folder, home) => {
  const [old, next] = [join(folder, "old"), join(folder, "next")];
  fs.mkdirSync(old);
  const id = await createSession(home, old);
  fs.renameSync(old, next);
  assert.deepEqual((await listAndContinue(join(folder, "other home"), next)).ids, []);
  const store = await openStore({ home, project: next });
  assert.deepEqual(await store.list(), []);
  assert.deepEqual(await store.relocate(old, next), { count: 1 });
  assert.deepEqual(
    (await store.list()).map((one) => [one.id, one.project]),
    [[id, next]],
  );
  assert.deepEqual(await store.relocate(old, next), { count: 0 });
  await store.close();
  assert.deepEqual(await listAndContinue(home, next), { ids: [id], continued: id });
});

check("an index that is gone does not part a moved project from its sessions", async (folder, home) => {
  repository(join(folder, "a"));
  const id = await createSession(home, join(folder, "a"));
  fs.renameSync(join(folder, "a"), join(folder, "b"));
  fs.rmSync(join(home, "sessions", "index.jsonl"), { force: true });
  assert.deepEqual(await listAndContinue(home, join(folder, "b")), { ids: [id], continued: id });
});

check("a repository sees nothing of the pointer to its current session", async (folder, home) => {
  const project = join(folder, "p");
  repository(project);
  const id = await createSession(home, project);
  assert.equal(JSON.parse(fs.readFileSync(join(project, ".leftoff", "current-session.json"), "utf8")).id, id);
  assert.ok(fs.existsSync(join(project, ".leftoff", "current-session", "messages.jsonl")));
  assert.equal(git(project, "status", "--porcelain"), "");
  fs.writeFileSync(join(project, ".leftoff", "settings.json"), "{}");
  assert.equal(git(project, "status", "--porcelain", "--untracked-files=all").trim(), "?? .leftoff/settings.json");
});

check("the pointer goes with its session, and nothing that somebody put in its place", async (folder, home) => {
  const project = join(folder, "p");
  fs.mkdirSync(project);
  const store = await openStore({ home, project });
  const [file, link] = ["current-session.json", "current-session"].map((name) => join(project, ".leftoff", name));
  await store.delete(await store.create());
  assert.deepEqual(
    [file, link].map((path) => fs.lstatSync(path ?? "", { throwIfNoEntry: false })),
    [undefined, undefined],
  );
  const second = await store.create();
  fs.rmSync(link ?? "");
  fs.mkdirSync(link ?? "");
  fs.writeFileSync(join(link ?? "", "mine.txt"), "mine");
  await store.delete(second);
  assert.deepEqual([fs.existsSync(file ?? ""), fs.readFileSync(join(link ?? "", "mine.txt"), "utf8")], [false, "mine"]);
  await store.close();
});

check("a pointer that leads nowhere, elsewhere or is none is passed by", async (folder, home) => {
  const project = join(folder, "p");
  fs.mkdirSync(project);
  const first = await createSession(home, project);
  const store = await openStore({ home, project });
  const last = await store.create();
  const pointer = join(project, ".leftoff", "current-session.json");
  const pointers = [
    "",
    "{",
    "7",
    "null",
    '{"id":1}',
    JSON.stringify({ id: first, path: "/etc" }),
    JSON.stringify({ id: "../..", path: project }),
  ];
  for (const text of pointers) {
    fs.writeFileSync(pointer, text);
    assert.equal((await store.current())?.id, last.id, text);
  }
  const [, one] = await store.list();
  fs.writeFileSync(pointer, JSON.stringify({ version: 1, id: first, path: one?.path }));
  assert.equal((await store.current())?.id, first);
  await store.close();
});
