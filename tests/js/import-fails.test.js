// @ts-check
// An import that fails leaves no session behind that others take for open, and goes on once it can.
// Tries: src/operation/store/import/file.rs, src/operation/store/import/recording.rs

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { LeftoffError, NodeStorage, openStore } from "../../js/index.js";
import { inFolder } from "./git-tools.js";

const FIXTURE = "claude-code/real/2.1.197/445adb5c-b44b-4625-86f4-77b2ace446f0.jsonl";

/** A disk that takes no messages while it is full. */
class SmallDisk extends NodeStorage {
  isFull = true;

  /** @type {NodeStorage["append"]} */
  append = (path, bytes, options) => {
    if (!this.isFull || !path.endsWith("messages.jsonl")) return super.append(path, bytes, options);
    throw new LeftoffError({ code: "disk_full", message: "no room" });
  };
}

/** The files by which a process says that it has a session open. @param {string} home */
const leasesIn = (home) => readdirSync(home, { recursive: true }).filter((name) => /\.open[\\/]./.test(String(name)));

for (const isFolder of [false, true])
  test(`nobody has a session open into which an import failed, ${isFolder ? "of a folder" : "of a file"}`, () =>
    inFolder(async (folder) => {
      const storage = new SmallDisk();
      const home = join(folder, "home");
      const path = join(folder, "theirs", "s.jsonl");
      mkdirSync(join(folder, "theirs"));
      cpSync(fileURLToPath(new URL(`../fixtures/${FIXTURE}`, import.meta.url)), path);
      const store = await openStore({ storage, home, project: folder });
      if (isFolder) {
        const { imported, problems } = await store.import(join(folder, "theirs"));
        assert.deepEqual([imported, problems.map(({ code }) => code)], [[], ["disk_full"]]);
      } else await assert.rejects(store.import(path), { code: "disk_full" });
      assert.deepEqual(leasesIn(home), []);

      storage.isFull = false;
      const [one, ...others] = (await store.import(path)).imported;
      assert.deepEqual([one?.added, others], [one?.messageCount, []]);
      await store.close();
      await storage.close();
    }));
