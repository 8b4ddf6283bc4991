// @ts-check
// A session as one file: out of one store and into another, by the command line and by the library.
// Tries: js/cli/export.js, src/operation/session_packing.rs, src/operation/store/import/session_unpacking.rs,
// src/record/session_file/

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { openStore, readTranscript } from "../../js/index.js";

const CLI = fileURLToPath(new URL("../../pkg/cli.js", import.meta.url));

/** @param {(folder: string) => Promise<void>} work */
async function inFolder(work) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-file-")));
  for (const name of ["here", "there", "user"]) mkdirSync(join(folder, name));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Two stores of two projects. @param {string} folder */
async function stores(folder) {
  const [here, there] = ["here", "there"].map((name) =>
    openStore({ home: join(folder, name, "home"), project: join(folder, name) }),
  );
  return { here: await here, there: await there };
}

/** @param {string} folder @param {string} of @param {string[]} words */
function leftoff(folder, of, ...words) {
  const env = { PATH: process.env.PATH, HOME: join(folder, "user"), LEFTOFF_HOME: join(folder, of, "home") };
  return spawnSync(process.execPath, [CLI, ...words], { cwd: join(folder, of), env, encoding: "utf8" });
}

/** The files of a session by their paths in its folder. @param {string} folder */
function filesOf(folder) {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name)).toString("base64")]));
}

/** @param {import("../../js/session/session.js").Session} session */
async function texts(session) {
  const all = [];
  for await (const { content } of session.messages({ allBranches: true })) all.push(content);
  return all.sort();
}

test("a session goes into another store by one file, goes on in both, and each has all of it then", () =>
  inFolder(async (folder) => {
    const { here, there } = await stores(folder);
    const mine = await here.create({ title: "The parser" });
    await mine.append([
      { role: "user", content: "long ".repeat(60_000) },
      { role: "assistant", content: "Steering \u009b2J\u202e and \u2028." },
    ]);
    await mine.close();
    const file = join(folder, "session.jsonl");
    writeFileSync(file, await (await here.session(mine.id)).export("leftoff"));
    const { imported, problems } = await there.import(file);
    assert.deepEqual(
      [imported.map(({ id, agent, added }) => [id, agent, added]), problems],
      [[[mine.id, "leftoff", 2]], []],
    );
    assert.deepEqual(filesOf((await there.list())[0]?.path ?? ""), filesOf(mine.path));
    const theirs = await there.session(mine.id);
    assert.equal(theirs.metadata.display.title, "The parser");
    await theirs.append({ role: "user", content: "said there" });
    await (await here.session(mine.id)).append({ role: "user", content: "said here" });
    writeFileSync(file, await theirs.export("leftoff"));
    // Who has it open here sees what came.
    assert.deepEqual(
      (await here.import(file)).imported.map(({ added }) => added),
      [1],
    );
    writeFileSync(file, await (await here.session(mine.id)).export("leftoff"));
    assert.deepEqual(
      (await there.import(file)).imported.map(({ added }) => added),
      [1],
    );
    assert.deepEqual(
      (await there.import(file)).imported.map(({ added }) => added),
      [0],
    );
    const both = [await texts(await here.session(mine.id)), await texts(theirs)];
    assert.deepEqual(both[0], both[1]);
    assert.equal(both[0]?.length, 4);
    const transcript = await readTranscript(file);
    assert.equal(transcript.session.id, mine.id);
    await Promise.all([here.close(), there.close()]);
  }));

test("what is printed to a pipe is the file, byte for byte, and a file that was cut says so", () =>
  inFolder(async (folder) => {
    const { here, there } = await stores(folder);
    const session = await here.create({ title: "Steering \u009b2J" });
    await session.append({ role: "user", content: "Steering \u001b[2J \u009b2J\u202e and \u2028." });
    const text = await session.export("leftoff");
    await Promise.all([here.close(), there.close()]);
    const printed = leftoff(folder, "here", "export", session.id, "--to", "leftoff").stdout;
    const bare = (/** @type {string} */ all) =>
      all.split("\n").filter((line) => !line.startsWith('{"file":"metadata.json"'));
    assert.deepEqual(bare(printed), bare(text));
    const file = join(folder, "cut.jsonl");
    writeFileSync(file, printed.slice(0, -3));
    const imported = leftoff(folder, "there", "import", file);
    assert.equal(imported.status, 0);
    assert.match(imported.stderr, /cut off/);
    assert.match(imported.stdout, /leftoff {2}1 message, 1 new/);
    assert.match(leftoff(folder, "there", "list").stdout, /Steering/);
  }));

test("without --to it is Markdown; for an agent it is written where that one looks, and what is lost is said", () =>
  inFolder(async (folder) => {
    const { here, there } = await stores(folder);
    const session = await here.create({ title: "The parser" });
    await session.append([
      { role: "user", content: "Rename it." },
      { role: "assistant", content: "Renamed.", assistant: { reasoning: [{ text: "Where is it?" }] } },
    ]);
    await Promise.all([here.close(), there.close()]);
    assert.match(leftoff(folder, "here", "export", session.id).stdout, /^# The parser\n/);
    const written = leftoff(folder, "here", "export", session.id, "--to", "codex");
    assert.match(written.stdout, /^\/.*\/user\/\.codex\/sessions\/.*\.jsonl\n$/);
    assert.match(written.stderr, /codex resume/);
    assert.match(readFileSync(written.stdout.trim(), "utf8"), /Rename it\./);
    const value = JSON.parse(leftoff(folder, "here", "export", session.id, "--to", "claude-code", "--json").stdout);
    assert.deepEqual([value.agent, Array.isArray(value.losses), value.messageCount], ["claude-code", true, 2]);
    const refused = leftoff(folder, "here", "export", session.id, "--to", "codex", "--output", "x");
    assert.deepEqual([refused.status, /--output goes with/.test(refused.stderr)], [2, true]);
    for (const target of ["markdown", "json", "leftoff", "codex"])
      assert.ok(leftoff(folder, "here", "export", "--help").stdout.includes(target), target);
  }));
