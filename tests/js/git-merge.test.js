// @ts-check
// Two branches of one session become one again, and no message is lost: real logs, merged by git itself.
// Tries: src/record/scan.rs, src/session/branch.rs, src/operation/git/commit.rs
import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { MemoryStorage, openStore } from "../../js/index.js";
import { git, gitFails, inFolder, put } from "./git-tools.js";

/** What lies beside a session in a workspace. */
const ATTRIBUTES = await (async () => {
  const storage = new MemoryStorage();
  const store = await openStore({ home: "/home", project: "/", workspace: "/", storage });
  const { path } = await store.create();
  return Buffer.from((await storage.read(join(path, ".gitattributes"))) ?? []).toString();
})();

const LOGS = ["messages.jsonl", "events.jsonl"];

/**
 * A store with one session, to which a side appends.
 * @param {string} home
 * @param {string} project
 * @param {string[]} texts
 */
async function appendTexts(home, project, texts) {
  const store = await openStore({ home, project });
  const session = await store.continue({ model: "gpt-5" });
  for (const content of texts) await session.append({ role: "user", content });
  await store.close();
  return session.path;
}

/** @param {string} from @param {string} to */
function copyLogs(from, to) {
  fs.mkdirSync(to, { recursive: true });
  for (const name of [...LOGS, "blobs"])
    if (fs.existsSync(join(from, name))) fs.cpSync(join(from, name), join(to, name), { recursive: true });
}

const LONG = `long ${"x".repeat(300_000)}`;

/**
 * A repository in which a session went on in two branches, `main` checked out.
 * @param {string} folder
 * @param {{ attributes: string, crlf: boolean }} options
 */
async function makeBranches(folder, { attributes, crlf }) {
  const top = join(folder, "top");
  const session = join(top, "conversation", ".session");
  git(folder, "init", "--quiet", "top");
  if (crlf) for (const name of ["core.autocrlf=true", "core.eol=crlf"]) git(top, "config", ...name.split("="));
  put(join(session, ".gitattributes"), attributes);
  put(join(session, "session.json"), '{\n  "as_of": "0"\n}\n');
  const homes = { main: join(folder, "a"), side: join(folder, "b") };
  const path = await appendTexts(homes.main, folder, ["zero", "one\r\ntwo"]);
  fs.cpSync(homes.main, homes.side, { recursive: true });
  copyLogs(path, session);
  git(top, "add", ".");
  git(top, "commit", "--quiet", "--message=begun");
  git(top, "branch", "side");
  for (const [branch, home] of Object.entries(homes)) {
    git(top, "checkout", "--quiet", branch);
    const mine = await appendTexts(home, folder, sideTexts(branch));
    fs.appendFileSync(
      join(mine, "events.jsonl"),
      `{"v":1,"id":"${branch}","timestamp":"2026-01-01T00:00:00Z","type":"title","title":"from ${branch}"}\n`,
    );
    copyLogs(mine, session);
    put(join(session, "session.json"), `{\n  "as_of": "${branch}"\n}\n`);
    git(top, "add", ".");
    git(top, "commit", "--quiet", `--message=${branch}`);
  }
  git(top, "checkout", "--quiet", "main");
  return { top, session, path };
}

/**
 * What the core reads from merged logs, opened as a session.
 * @param {string} folder
 * @param {string} session
 * @param {string} path where it lay
 */
async function read(folder, session, path) {
  const home = join(folder, "merged");
  copyLogs(session, path.replace(join(folder, "a"), home));
  const store = await openStore({ home, project: folder });
  const opened = await store.continue();
  const texts = [];
  for await (const { content } of opened.messages()) texts.push(content);
  const { includedMessageCount: included } = await opened.context({ window: 1_000_000, encoding: "estimate-1" });
  const examined = await opened.examine();
  const { title } = opened.metadata.display;
  await store.close();
  return { texts, examined, included, title };
}

const sideTexts = (/** @type {string} */ side) => [`${side} 1`, `${side} ${LONG}`, `${side} 3`];
const ALL = ["zero", "one\r\ntwo", ...sideTexts("main"), ...sideTexts("side")].sort();

for (const crlf of [false, true]) {
  for (const how of ["merge", "rebase", "cherry-pick"]) {
    test(`no message is lost by a ${how}${crlf ? " where line ends are CRLF" : ""}`, () =>
      inFolder(async (folder) => {
        const { top, session, path } = await makeBranches(folder, { attributes: ATTRIBUTES, crlf });
        // Both sides wrote the derived document: that is a conflict, and still a document.
        assert.match(gitFails(top, how, "side"), /session\.json/);
        assert.deepEqual(
          git(top, "diff", "--name-only", "--diff-filter=U").trim(),
          "conversation/.session/session.json",
        );
        assert.match(JSON.parse(fs.readFileSync(join(session, "session.json"), "utf8")).as_of, /^(main|side)$/);
        git(top, "add", ".");
        // As they come out of the repository again.
        for (const name of LOGS) fs.rmSync(join(session, name));
        fs.rmSync(join(session, "blobs"), { recursive: true });
        git(top, "checkout", "--", ".");
        for (const name of LOGS) assert.equal(fs.readFileSync(join(session, name)).includes("\r"), false);
        const { texts, examined, included, title } = await read(folder, session, path);
        assert.deepEqual(texts.sort(), ALL);
        assert.match(title, /^from (main|side)$/);
        for (const side of ["main", "side"])
          assert.match(fs.readFileSync(join(session, "events.jsonl"), "utf8"), new RegExp(`"from ${side}"`));
        assert.equal(included, ALL.length);
        assert.deepEqual(examined, { health: "ok", problems: [] });
      }));
  }
}

test("without the attributes the logs are in conflict, and have other line ends", () =>
  inFolder(async (folder) => {
    const { top, session } = await makeBranches(folder, { attributes: "", crlf: true });
    gitFails(top, "merge", "side");
    assert.match(git(top, "ls-files", "--unmerged"), /messages\.jsonl/);
    assert.ok(fs.readFileSync(join(session, "messages.jsonl")).includes("\r\n"));
  }));

test("a torn line costs a merge nothing but itself", () =>
  inFolder(async (folder) => {
    const { top, session, path } = await makeBranches(folder, { attributes: ATTRIBUTES, crlf: false });
    fs.appendFileSync(join(session, "messages.jsonl"), '{"v":1,"id":"torn');
    git(top, "commit", "--quiet", "--all", "--message=torn");
    gitFails(top, "merge", "side");
    const { texts, examined } = await read(folder, session, path);
    assert.deepEqual(texts.sort(), ALL);
    assert.deepEqual(
      examined.problems.map(({ code }) => code),
      ["damaged"],
    );
  }));

test("a filter that the repository sets for all logs does not get them", () =>
  inFolder(async (folder) => {
    const { top, session, path } = await makeBranches(folder, { attributes: ATTRIBUTES, crlf: false });
    for (const [name, command] of [
      ["clean", "sha256sum"],
      ["smudge", "cat"],
    ])
      git(top, "config", `filter.lfs.${name}`, /** @type {string} */ (command));
    put(join(top, ".gitattributes"), "*.jsonl filter=lfs diff=lfs merge=lfs -text\n*.json filter=lfs\n");
    fs.appendFileSync(join(session, "messages.jsonl"), "\n");
    git(top, "add", ".");
    git(top, "commit", "--quiet", "--message=filtered");
    gitFails(top, "merge", "side");
    assert.deepEqual((await read(folder, session, path)).texts.sort(), ALL);
  }));

test("blobs come out as they went in", () =>
  inFolder(async (folder) => {
    git(folder, "init", "--quiet", "top");
    const top = join(folder, "top");
    git(top, "config", "core.autocrlf", "true");
    const blob = join(top, ".session", "blobs", "aa");
    put(join(top, ".session", ".gitattributes"), ATTRIBUTES);
    put(blob, "one\r\ntwo\nthree\n");
    git(top, "add", ".");
    git(top, "commit", "--quiet", "--message=blob");
    fs.rmSync(join(top, ".session"), { recursive: true });
    git(top, "checkout", "--", ".");
    assert.equal(fs.readFileSync(blob, "utf8"), "one\r\ntwo\nthree\n");
    assert.equal(fs.readFileSync(join(top, ".session", ".gitattributes"), "utf8"), ATTRIBUTES);
  }));
