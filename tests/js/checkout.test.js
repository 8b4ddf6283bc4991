// @ts-check
// What is derived belongs to the bytes it was made from: where others have come into their place under an open session,
// by a checkout of git, an editor or a copy, all it tells is made of those.
// Tries: src/operation/session_files.rs, src/operation/checkpoint_cache.rs, src/session/file_prints.rs
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { MemoryStorage, openStore } from "../../js/index.js";

/** @import { Session } from "../../js/session/session.js" */

const folder = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-checkout-")));
after(() => rmSync(folder, { recursive: true }));

const OURS = "We decided to keep the invoices in Postgres, table alpha_one.";
const THEIRS = "We decided to keep the invoices in MongoDB, shard beta_two.";
/** As many bytes as the other one. */
const SAME = OURS.replace("Postgres", "CouchDB1").replace("alpha_one", "gamma_six");

/** @param {string} content */
const user = (content) => ({ role: "user", content });

/** All that a session tells of what was said. @param {Session} session */
async function describeSession(session) {
  const { messages } = await session.context({ window: 8000, encoding: "estimate-1" });
  const all = [];
  for await (const { content } of session.messages()) all.push(content);
  return {
    brief: await session.brief(),
    state: JSON.stringify(await session.state()),
    context: JSON.stringify(messages),
    messages: all.join("\n"),
  };
}

/** @param {Session} session @param {string} is @param {string} was @param {string} label */
async function tellsOnly(session, is, was, label) {
  const all = await describeSession(session);
  for (const [name, text] of Object.entries(all)) {
    const word = (/** @type {string} */ said) => /** @type {string} */ (/in (\w+),/.exec(said)?.[1]);
    assert.ok(!text.includes(word(was)), `${label}: ${name} still tells "${word(was)}"`);
    if (name !== "state") assert.ok(text.includes(word(is)), `${label}: ${name} does not tell "${word(is)}": ${text}`);
  }
}

/** How another log comes into the place of one. @type {Record<string, (path: string, bytes: Buffer) => void>} */
const WAYS = {
  "written over": (path, bytes) => writeFileSync(path, bytes),
  "put in its place": (path, bytes) => {
    writeFileSync(`${path}.new`, bytes);
    renameSync(`${path}.new`, path);
  },
  "removed, and made anew": (path, bytes) => {
    rmSync(path);
    writeFileSync(path, bytes);
  },
};

for (const [way, put] of Object.entries(WAYS)) {
  for (const [how, said, more] of /** @type {[string, string, number][]} */ ([
    ["longer", THEIRS, 3],
    ["shorter", THEIRS, 0],
    ["as long", SAME, 1],
  ])) {
    test(`a log ${way}, ${how}: contexts, brief, state and messages are of what lies there now`, async () => {
      const home = mkdtempSync(join(folder, "home-"));
      const store = await openStore({ home, project: folder });
      const session = await store.create({ placement: "home" });
      const path = join(session.path, "messages.jsonl");
      await session.append([user("Which database?"), user(OURS), user("Go on.")]);
      const ours = readFileSync(path);
      const other = await store.create({ placement: "home" });
      const texts =
        how === "as long"
          ? []
          : [user("Which database?"), user(said), ...Array.from({ length: more }, (_, at) => user(`And then ${at}.`))];
      if (texts.length > 0) await other.append(texts.slice(0, how === "shorter" ? 2 : undefined));
      const theirs =
        how === "as long"
          ? Buffer.from(ours.toString().replace(OURS, SAME))
          : readFileSync(join(other.path, "messages.jsonl"));
      await describeSession(session); // All is derived by now.
      put(path, theirs);
      await tellsOnly(session, said, OURS, way);
      await session.append(user("after"));
      assert.match((await describeSession(session)).messages, /after$/);
      put(path, ours);
      await tellsOnly(session, OURS, said, `${way}, back`);
      await store.close();
    });
  }
}

test("a session of a workspace tells what its branch of git has, and goes on there", async () => {
  const project = mkdtempSync(join(folder, "project-"));
  mkdirSync(join(project, "conversations"));
  const git = (/** @type {string[]} */ ...args) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", "-C", project, ...args], { stdio: "pipe" });
  git("init", "-b", "ours");
  const store = await openStore({ home: mkdtempSync(join(folder, "home-")), project, workspace: project });
  const session = await store.create();
  await session.append(user("Which database?"));
  await session.flush();
  git("add", "-A");
  git("commit", "-m", "begun");
  git("checkout", "-b", "theirs");
  await session.append([user(THEIRS), user("It is done."), user("Really.")]);
  await session.rename("theirs");
  git("add", "-A");
  git("commit", "-m", "theirs");
  git("checkout", "ours");
  await session.append([user(OURS)]);
  await tellsOnly(session, OURS, THEIRS, "ours");
  await session.flush();
  git("add", "-A");
  git("commit", "-m", "ours");
  git("checkout", "theirs");
  await tellsOnly(session, THEIRS, OURS, "theirs");
  assert.equal(session.metadata.display.title, "theirs");
  await session.append(user("after"));
  assert.equal((await session.export("json")).includes("Postgres"), false);
  await store.close();
});

test("a log that was replaced in memory is read again", async () => {
  const storage = new MemoryStorage();
  const store = await openStore({ home: "/home", project: "/", storage });
  const session = await store.create({ placement: "home" });
  await session.append([user(OURS)]);
  const path = join(session.path, "messages.jsonl");
  const log = new TextDecoder().decode((await storage.read(path)) ?? undefined);
  await describeSession(session);
  await storage.replace(path, new TextEncoder().encode(log.replace(OURS, SAME)));
  await tellsOnly(session, SAME, OURS, "memory");
});
