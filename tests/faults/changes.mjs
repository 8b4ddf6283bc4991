// @ts-check
/** What can happen to a store behind the back of its index. */

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { openStore } from "../../js/index.js";
import { withChecksums } from "../js/many-sessions.js";

const LIBRARY = new URL("../../js/index.js", import.meta.url).href;

/** @param {{ home: string, project: string, paths: string[] }} made @returns {Record<string, () => unknown>} */
export function changes({ home, project, paths }) {
  const inHome = paths.filter((path) => path.startsWith(home));
  const here = paths.filter((path) => !path.startsWith(home));
  const [one = "", two = "", three = "", four = ""] = inHome.slice(-4);
  const [conversation = "", other = ""] = here.slice(-2);
  const idOf = (/** @type {string} */ path) => basename(path).slice("session-".length);
  const killed = (/** @type {string} */ work) => {
    const code = `const { openStore } = await import(${JSON.stringify(LIBRARY)});
      const store = await openStore({ home: process.argv[1], project: process.argv[2], idleMs: Infinity });
      ${work}
      process.kill(process.pid, "SIGKILL");`;
    const { signal, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", code, home, project], {
      encoding: "utf8",
    });
    if (signal !== "SIGKILL") throw new Error(stderr);
  };
  const edit = (/** @type {string} */ path, /** @type {(text: string) => string} */ work) =>
    fs.writeFileSync(path, work(fs.readFileSync(path, "utf8")));
  /** The same size, the same time of change, as far as somebody can set it. */
  const forge = (/** @type {string} */ path, /** @type {(text: string) => string} */ work) => {
    const { atime, mtime } = fs.statSync(path);
    fs.writeFileSync(`${path}.new`, work(fs.readFileSync(path, "utf8")));
    fs.utimesSync(`${path}.new`, atime, mtime);
    fs.renameSync(`${path}.new`, path);
  };
  const title = (/** @type {string} */ text) =>
    text.replace(/(?<="title": ?")\w/, (letter) => (letter === "X" ? "Y" : "X"));
  return {
    nothing: () => {},
    "a message of a process that was killed": () =>
      killed(`await (await store.session(${JSON.stringify(idOf(one))})).append({ role: "user", content: "theirs" });`),
    "an event of a process that was killed": () =>
      killed(`await (await store.session(${JSON.stringify(idOf(two))})).rename("by one that was killed");`),
    "a session of a process that was killed": () =>
      killed('await (await store.create({ title: "new" })).append({ role: "user", content: "x" });'),
    "an event, and no document": () =>
      fs.appendFileSync(
        join(three, "events.jsonl"),
        '{"v":1,"id":"e","timestamp":"2026-01-01T00:00:00Z","type":"title","title":"by an event"}\n',
      ),
    "a document that was edited by hand": () => edit(join(one, "metadata.json"), title),
    "one of the workspace that was edited by hand": () => edit(join(conversation, "session.json"), title),
    "another document of the same size and time": () => forge(join(two, "metadata.json"), title),
    "another log of the same size and time": () =>
      forge(join(two, "events.jsonl"), (text) => withChecksums(title(text))),
    "other messages of the same size and time": () =>
      forge(join(three, "messages.jsonl"), (text) => withChecksums(text.replaceAll(/"20(\d\d)-/g, '"19$1-'))),
    "a session that is gone": () => fs.rmSync(four, { recursive: true }),
    "one that was renamed": () => fs.renameSync(three, `${three}0`),
    "one that was copied": () => fs.cpSync(two, join(dirname(two), "session-copy"), { recursive: true }),
    "one that was copied with its times": () =>
      fs.cpSync(two, join(dirname(two), "session-copy-2"), { recursive: true, preserveTimestamps: true }),
    "one that is another one now": () => {
      fs.rmSync(`${three}0`, { recursive: true });
      fs.cpSync(one, `${three}0`, { recursive: true, preserveTimestamps: true });
    },
    "one restored from a backup": () => {
      fs.cpSync(two, join(home, "backup"), { recursive: true, preserveTimestamps: true });
      fs.appendFileSync(join(two, "messages.jsonl"), '{"v":1,"role":"user","content":"later"}\n');
      fs.rmSync(two, { recursive: true });
      fs.renameSync(join(home, "backup"), two);
    },
    "a log that shrank": () => fs.truncateSync(join(one, "messages.jsonl"), 10),
    "a log that is empty": () => fs.truncateSync(join(one, "messages.jsonl"), 0),
    "a log that is a link": () => {
      fs.rmSync(join(one, "messages.jsonl"));
      fs.symlinkSync(join(two, "messages.jsonl"), join(one, "messages.jsonl"));
    },
    "a conversation's first heading": () =>
      fs.writeFileSync(join(project, "conversations", "2025-11-22", "001-typed", "chat.md"), "# Another heading\n"),
    "a conversation with one more file": () =>
      fs.writeFileSync(join(project, "conversations", "2025-11-22", "001-typed", "a.md"), "# A heading of its own\n"),
    "a conversation that was moved": () => fs.renameSync(dirname(other), `${dirname(other)}-moved`),
    "a project's folder that is gone": () => fs.rmSync(dirname(one), { recursive: true }),
    "a workspace that is gone": () => fs.rmSync(join(project, "conversations"), { recursive: true }),
    "everything deleted but one": async () => {
      fs.rmSync(join(home, "sessions", "projects"), { recursive: true });
      const store = await openStore({ home, project, idleMs: Infinity });
      await store.create({ title: "the only one" });
      await store.close();
    },
  };
}
