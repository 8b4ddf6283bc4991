// @ts-check
// A hook that has nothing to say leaves the recording to another process: one for each conversation, and nothing is
// lost of what it was handed, whenever it is killed.
// Tries: js/cli/hooks/, js/cli/hook.js
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { findHolder, freeLock, takeLock } from "../../js/cli/hooks/lock.js";
import { keyOf, lockFolder, pendingNames, queueTurn } from "../../js/cli/hooks/queue.js";
import { recordQueued } from "../../js/cli/hooks/recorder.js";
import { openStore } from "../../js/index.js";
import { inFolder } from "./git-tools.js";
import { nodePath } from "./node-path.js";
import { recordersEnded } from "./recorders.js";
import { entry } from "./terminal.js";

/** A conversation in a client, recorded once. */
class Conversation {
  #count = 0;
  /** @param {string} folder */
  constructor(folder) {
    /** @type {string} */
    this.folder = folder;
    /** @type {string} */
    this.home = join(folder, "store");
    /** @type {string} */
    this.path = join(folder, "talk.jsonl");
    this.key = keyOf(this.path);
    this.lock = lockFolder(this.home, this.key);
    this.says("hello");
    this.hook("Stop");
  }

  /** @param {string} content */
  says(content) {
    const number = (this.#count += 1);
    const timestamp = `2026-01-01T10:00:${String(number).padStart(2, "0")}Z`;
    const message = { role: "user", content };
    const line = { type: "user", uuid: `u${number}`, sessionId: "s", cwd: this.folder, timestamp, message };
    appendFileSync(this.path, `${JSON.stringify(line)}\n`);
  }

  /** @param {string} event @param {object} [beside] @returns {string} */
  hook(event, beside = {}) {
    /** @type {object} */
    const input = { session_id: "s", transcript_path: this.path, cwd: this.folder, hook_event_name: event, ...beside };
    return this.leftoff(["hook", "claude-code"], JSON.stringify(input));
  }

  /** @param {string[]} args @param {string} [input] @returns {string} */
  leftoff(args, input = "") {
    const env = { PATH: process.env.PATH, HOME: this.folder, LEFTOFF_HOME: this.home, TMPDIR: this.folder };
    const { status, stdout, stderr } = spawnSync(nodePath, [entry, ...args], {
      cwd: this.folder,
      env,
      input,
      encoding: "utf8",
    });
    assert.deepEqual([status, stderr], [0, ""]);
    return stdout;
  }

  /** What was typed, as a list says it: how many messages. */
  listed() {
    return JSON.parse(this.leftoff(["list", "--all", "--json"])).map(
      (/** @type {{ messageCount: number }} */ one) => one.messageCount,
    );
  }

  /** What is stored, whatever is queued. */
  async stored() {
    const store = await openStore({ home: this.home, project: this.folder, readOnly: true });
    const listed = await store.list({ all: true });
    await store.close();
    return listed.map(({ messageCount, status }) => [messageCount, status]);
  }

  queued() {
    return pendingNames(this.home, this.key).length;
  }

  /** Has the lock held by a process that is gone. */
  abandonLock() {
    const ended = spawnSync(nodePath, ["-e", "0"]).pid;
    assert.equal(takeLock(this.lock, ended), true);
    assert.equal(findHolder(this.lock), undefined);
  }
}

/** @param {string} law @param {(talk: Conversation) => Promise<void>} body */
function check(law, body) {
  test(law, () =>
    inFolder(async (folder) => {
      const talk = new Conversation(folder);
      try {
        await body(talk);
      } finally {
        await recordersEnded(talk.home);
      }
    }),
  );
}

check("while one recorder is at work turns wait for it, and their hooks do not", async (talk) => {
  assert.equal(takeLock(talk.lock), true);
  for (const [event, said] of [
    ["UserPromptSubmit", "one"],
    ["Stop", "two"],
  ]) {
    talk.says(said ?? "");
    assert.equal(talk.hook(event ?? "", { prompt: "go on" }), "");
  }
  assert.deepEqual([talk.queued(), await talk.stored()], [2, [[1, "active"]]]);
  assert.equal(findHolder(talk.lock)?.pid, process.pid);
  freeLock(talk.lock);
  await recordQueued(talk.home, talk.key);
  assert.deepEqual([talk.queued(), await talk.stored()], [0, [[3, "active"]]]);
});

check("a turn that is queued while its recorder is at work is recorded by it", async (talk) => {
  const turn = { agent: "claude-code", path: talk.path, project: talk.folder, event: "Stop", isCounted: false };
  queueTurn(talk.home, turn);
  const recording = recordQueued(talk.home, talk.key);
  assert.equal(findHolder(talk.lock)?.pid, process.pid, "what it does is read by now");
  talk.says("later");
  queueTurn(talk.home, { ...turn, event: "SessionEnd" });
  await recording;
  assert.deepEqual([talk.queued(), await talk.stored()], [0, [[2, "paused"]]]);
});

check("what a killed recorder was handed is shown by the next command", async (talk) => {
  talk.says("more");
  talk.hook("Stop");
  const pid = findHolder(talk.lock)?.pid;
  if (pid !== undefined) process.kill(pid, "SIGKILL");
  assert.deepEqual(talk.listed(), [2]);
  assert.equal(talk.queued(), 0);
});

check("what a killed recorder has left is recorded by the next hook itself", async (talk) => {
  const turn = { agent: "claude-code", path: talk.path, project: talk.folder, event: "SessionEnd", isCounted: false };
  const leavesEnd = () => {
    talk.abandonLock();
    queueTurn(talk.home, turn);
  };
  leavesEnd();
  talk.says("one more");
  assert.equal(talk.hook("SessionStart", { source: "resume" }), "");
  assert.deepEqual([talk.queued(), await talk.stored()], [0, [[2, "paused"]]]);
  leavesEnd();
  talk.says("I am back");
  assert.equal(talk.hook("UserPromptSubmit", { prompt: "I am back" }), "");
  assert.deepEqual([talk.queued(), await talk.stored()], [0, [[3, "active"]]], "who types goes on");
});

check("a command that changes no byte records nothing of what was left", async (talk) => {
  talk.abandonLock();
  const turn = { agent: "claude-code", path: talk.path, project: talk.folder, event: "Stop", isCounted: false };
  queueTurn(talk.home, turn);
  talk.says("more");
  talk.leftoff(["resume", "last", "--print"]);
  assert.deepEqual([talk.queued(), await talk.stored()], [1, [[1, "active"]]]);
});

check("turns that were left are counted, so that a save is offered at the fortieth", async (talk) => {
  talk.abandonLock();
  const turn = { agent: "claude-code", path: talk.path, project: talk.folder, event: "Stop", isCounted: true };
  for (let number = 0; number < 39; number += 1) queueTurn(talk.home, turn);
  assert.match(talk.hook("UserPromptSubmit", { prompt: "go on" }), /40 turns of this conversation were not saved/);
  assert.equal(talk.hook("UserPromptSubmit", { prompt: "go on" }), "");
});

check("an offer that nobody could be told is made at the next prompt, once", async (talk) => {
  const turn = { agent: "claude-code", path: talk.path, project: talk.folder, event: "Stop", isCounted: true };
  for (let number = 0; number < 41; number += 1) queueTurn(talk.home, turn);
  await recordQueued(talk.home, talk.key);
  talk.hook("Stop");
  await recordersEnded(talk.home);
  assert.match(talk.hook("UserPromptSubmit", { prompt: "go on" }), /40 turns of this conversation were not saved/);
  assert.equal(talk.hook("UserPromptSubmit", { prompt: "go on" }), "");
});

check("a setting that was changed since is in force at the next prompt", async (talk) => {
  const store = await openStore({ home: talk.home, project: talk.folder });
  const other = await store.create({ title: "Ports" });
  await other.append({ role: "user", content: "The zephyr gateway listens on port 7443." });
  const asks = () => talk.hook("UserPromptSubmit", { prompt: "On which port does the zephyr gateway listen?" });
  assert.equal(asks(), "");
  await store.writeSetting("recall", "prompt");
  await store.close();
  assert.match(asks(), /7443/);
  talk.says("and more");
  await recordersEnded(talk.home);
  // By now the setting is known: what is recalled does not wait for what is recorded.
  assert.equal(takeLock(talk.lock), true);
  assert.equal(asks(), "", "nothing twice");
  assert.equal(talk.queued(), 1);
  freeLock(talk.lock);
  assert.deepEqual(talk.listed().sort(), [1, 2]);
});

test("of many processes that find a lock abandoned one gets it", () =>
  inFolder(async (folder) => {
    const lock = join(folder, "lock");
    mkdirSync(lock);
    const ended = spawnSync(nodePath, ["-e", "0"]).pid;
    assert.equal(takeLock(lock, ended), true);
    const module = new URL("../../js/cli/hooks/lock.js", import.meta.url).href;
    const program = `import { takeLock } from ${JSON.stringify(module)};
      process.stdin.once("data", () => process.stdout.write(String(takeLock(${JSON.stringify(lock)})) + "\\n"));
      process.stdout.write("ready\\n");`;
    const racers = Array.from({ length: 6 }, () =>
      spawn(nodePath, ["--input-type=module", "-e", program], { stdio: ["pipe", "pipe", "inherit"] }),
    );
    const heard = racers.map(({ stdout }) => stdout.setEncoding("utf8"));
    await Promise.all(heard.map((stdout) => once(stdout, "data")));
    const answers = Promise.all(heard.map((stdout) => once(stdout, "data")));
    for (const { stdin } of racers) stdin.write("go\n");
    assert.deepEqual((await answers).flat().sort(), [...Array(5).fill("false\n"), "true\n"]);
    assert.deepEqual(readdirSync(lock), ["lock-2"]);
    for (const { stdin } of racers) stdin.end();
  }));
