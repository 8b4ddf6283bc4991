// @ts-check
// A session that is moved away and back while it is appended to: whoever appends does not have to know.
// Tries: src/operation/moves.rs
import assert from "node:assert/strict";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { LeftoffError } from "../../js/index.js";
import { NodeStorage } from "../../js/storage/node.js";
import { before, contents, scene, user } from "./stopping.js";

/**
 * Whether the folder is away before the bytes are written, or from then on until it is looked whether they are found.
 */
for (const isBefore of [true, false]) {
  test(`a session that is away ${isBefore ? "when a line is written" : "once a line was written"}, and back at once, takes each message once`, async () => {
    for (let at = 1, hits = 1; hits > 0; at += 1) {
      const made = scene(true);
      const first = await made.open();
      const { id, path } = await first.create({ placement: "home" });
      await first.close();
      const store = await made.open();
      const session = await store.session(id);
      let appends = 0;
      hits = 0;
      const append = NodeStorage.prototype.append;
      NodeStorage.prototype.append = async function (file, bytes, options) {
        if (!file.startsWith(path) || ++appends !== at) return append.call(this, file, bytes, options);
        hits += 1;
        if (!isBefore) {
          await append.call(this, file, bytes, options);
          throw new LeftoffError({ code: "storage_failed", message: "moved away meanwhile", written: bytes.length });
        }
        renameSync(path, `${path}-away`);
        try {
          return await append.call(this, file, bytes, options);
        } finally {
          renameSync(`${path}-away`, path);
        }
      };
      try {
        await session.append(user("one"));
        await session.append(user("two"), { durability: "durable" });
        await session.flush();
        await session.append(user("three"));
      } finally {
        NodeStorage.prototype.append = append;
      }
      const again = await made.open();
      assert.deepEqual(await contents(await again.session(id)), ["one", "two", "three"], `away at append ${at}`);
      await again.close();
      await store.close();
    }
  });
}

test("who opened a session in the home appends to none that is only on its way back there", async () => {
  for (let at = 1, hasStopped = true; hasStopped; at += 1) {
    const made = scene(false);
    const theirs = await made.open();
    const session = await theirs.create({ placement: "home" });
    await session.append(user("one"));
    await made.storage.remove(join(made.home, "cache", `${session.id}.open`)); // A lease may be lost: nothing hangs on it.
    const mine = await made.open();
    const moved = await mine.move(await mine.session(session.id), { to: "workspace" });
    let step = 0;
    hasStopped = await new Promise((resolve, reject) => {
      before.next = () => {
        step += 1;
        if (step < at) return Promise.resolve();
        resolve(true);
        return new Promise(() => {});
      };
      mine.move(moved, { to: "home" }).then(() => resolve(false), reject);
    });
    before.next = undefined;
    await session.append(user("two"));
    const last = await made.open();
    assert.deepEqual(
      await contents(await last.session(session.id)),
      ["one", "two"],
      `on its way back, before step ${at}`,
    );
    await last.close();
  }
});
