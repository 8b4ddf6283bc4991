// @ts-check
// No operation of a store loses what another process appends meanwhile: each is stopped before each of its steps on the
// storage, something is appended by who had the session open before, and it goes on, or never does.
// Tries: src/operation/moves.rs, src/operation/store/relocation.rs, src/operation/store/relocation_steps.rs,
// src/operation/store/project_relocation.rs, src/operation/store/trash.rs
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { mock, test } from "node:test";

import { bytesOf, textOf } from "../../js/wasm/core.js";
import { before, contents, scene, user } from "./stopping.js";

/** @import { Session } from "../../js/session/session.js" */
/** @import { Store } from "../../js/store/store.js" */

/** @typedef {ReturnType<typeof scene>} Scene */
/**
 * @typedef {{ placement?: "home" | "workspace", begin?: (scene: Scene, store: Store) => Promise<string>, deletes?: boolean, purges?: boolean, does: (scene: Scene, store: Store, id: string) => Promise<unknown> }} Operation
 */

/** What Claude Code keeps of a conversation. @param {Scene} scene @param {string[]} said */
function writeTranscript({ file, storage, project }, said) {
  const line = (/** @type {string} */ content, /** @type {number} */ at) => ({
    type: "user",
    sessionId: "5f0c6a3e-0000-4000-8000-000000000000",
    uuid: `5f0c6a3e-0000-4000-8000-00000000000${at + 1}`,
    parentUuid: at > 0 ? `5f0c6a3e-0000-4000-8000-00000000000${at}` : null,
    timestamp: `2025-01-02T03:04:0${at}.000Z`,
    cwd: project,
    message: user(content),
  });
  return storage.replace(file, bytesOf(said.map((one, at) => `${JSON.stringify(line(one, at))}\n`).join("")));
}

/** @type {Record<string, Operation>} */
const OPERATIONS = {
  "move to a workspace": { does: async (_, store, id) => store.move(await store.session(id), { to: "workspace" }) },
  "move to the home": {
    placement: "workspace",
    does: async (_, store, id) => store.move(await store.session(id), { to: "home" }),
  },
  relocate: { does: ({ project, other }, store) => store.relocate(project, other) },
  "delete in the home": { deletes: true, does: async (_, store, id) => store.delete(await store.session(id)) },
  "delete in a workspace": {
    placement: "workspace",
    deletes: true,
    does: async (_, store, id) => store.delete(await store.session(id)),
  },
  fork: { does: async (_, store, id) => store.fork(await store.session(id)) },
  tidy: { does: (_, store) => store.tidy({ maxSessionsPerProject: 0, autoArchiveAfterDays: 1 }) },
  "list, and pause what rests": { does: (_, store) => store.list({ all: true }) },
  stop: { does: async (_, store, id) => (await store.session(id)).stop({ summary: "so far" }) },
  "doctor --fix": {
    begin: async ({ storage }, store) => {
      const session = await store.create({ placement: "home" });
      await session.append(user("before"));
      await storage.append(join(session.path, "messages.jsonl"), bytesOf('{"v":1,"role":"us'));
      await storage.replace(join(session.path, "metadata.json"), bytesOf("<<<<<<<"));
      return session.id;
    },
    does: (_, store) => store.doctor({ fix: true }),
  },
  import: {
    begin: async (scene, store) => {
      await writeTranscript(scene, ["before"]);
      const [one] = (await store.import(scene.file)).imported;
      await writeTranscript(scene, ["before", "imported"]);
      return one?.id ?? "";
    },
    does: ({ file }, store) => store.import(file),
  },
  archive: { does: async (_, store, id) => (await store.session(id)).archive() },
  purge: {
    deletes: true,
    purges: true,
    does: async (_, store, id) => store.delete(await store.session(id), { purge: true }),
  },
};

// No name of a file may hang on the clock alone: here all happens at once.
mock.timers.enable({ apis: ["Date"], now: Date.now() });

/** How who appends came by the session. @type {Record<string, (session: Session, scene: Scene) => Promise<unknown>>} */
const APPENDERS = {
  "who only opened it": async () => {},
  // A lease may be lost: nothing hangs on it.
  "who appended to it just now": async (session, { home, storage }) => {
    await session.append(user("warm"));
    await storage.remove(join(home, "cache", `${session.id}.open`));
  },
};

/** Every message that lies in the trash. @param {Scene} scene */
async function inTrash({ home, storage }) {
  const all = [];
  for (const { name } of (await storage.list(join(home, "trash"))) ?? []) {
    const log = await storage.read(join(home, "trash", name, "messages.jsonl"));
    const lines = log ? textOf(log).split("\n").filter(Boolean) : [];
    all.push(...lines.map((line) => JSON.parse(line).content));
  }
  return all;
}

/**
 * Stops the operation before its step `at`; whether it came so far.
 * @param {string} name @param {string} who @param {number} at @param {{ goesOn?: boolean, isReal?: boolean }} [options]
 */
async function stopBefore(name, who, at, { goesOn = true, isReal = false } = {}) {
  const operation = /** @type {Operation} */ (OPERATIONS[name]);
  const made = scene(isReal);
  const { open } = made;
  const first = await open();
  const begun = async () => {
    const session = await first.create({ placement: operation.placement ?? "home" });
    if (at % 2 === 0) await session.append(user("before")); // Else its log is not there yet.
    return session.id;
  };
  const id = await (operation.begin?.(made, first) ?? begun());
  await first.close();
  const theirs = await open();
  const session = await theirs.session(id);
  await APPENDERS[who]?.(session, made);
  const mine = await open({ idleMs: name.startsWith("list") ? -1 : undefined });
  /** @type {string[]} */
  const acknowledged = await contents(session);
  let step = 0;
  let hasStopped = false;
  /** @type {Promise<void> | undefined} */
  let stop;
  before.next = () => {
    step += 1;
    if (step === at) {
      hasStopped = true;
      before.next = undefined;
      stop = appended();
    }
    return stop?.then(() => (goesOn ? undefined : new Promise(() => {}))) ?? Promise.resolve();
  };
  const appended = async () => {
    try {
      await session.append(user(`meanwhile at ${at}`));
      acknowledged.push(`meanwhile at ${at}`);
    } catch (/** @type {any} */ error) {
      // Of what is deleted nobody is told that it was stored.
      assert.ok(operation.deletes && error.code === "not_found", `${error.code}: ${error.message}`);
    }
    cutOff?.();
  };
  /** @type {(() => void) | undefined} */
  let cutOff;
  const cut = new Promise((resolve) => (cutOff = goesOn ? undefined : () => resolve(undefined)));
  const done = operation.does(made, mine, id).catch((error) => {
    // What came meanwhile may be why it is not done.
    if (!["open_elsewhere", "not_found"].includes(error.code)) throw error;
  });
  await Promise.race([done, cut]);
  before.next = undefined;
  const last = await open();
  const found = await last.session(id).catch(() => undefined);
  const listed = (await last.list({ all: true, type: null, archived: null })).filter((one) => one.id === id);
  const label = `${name}, ${who}, stopped before step ${at}`;
  if (!operation.deletes || found) {
    assert.equal(listed.length, 1, `${label}: listed`);
    const all = found ? await contents(found) : [];
    for (const one of acknowledged)
      assert.equal(all.filter((other) => other === one).length, 1, `${label}: "${one}" in ${JSON.stringify(all)}`);
    await session.append(user("after"));
    assert.equal((await contents(/** @type {Session} */ (found))).at(-1), "after", label);
    assert.equal((await last.session(id)).path, session.path, label);
    if (goesOn)
      assert.deepEqual(
        (await last.doctor({ id })).flatMap(({ problems }) =>
          problems.filter(({ code }) => !["dead_lease", "bad_document", "damaged"].includes(code)),
        ),
        [],
        label,
      );
  } else {
    assert.equal(listed.length, 0, `${label}: listed`);
    const all = await inTrash(made);
    if (goesOn && !operation.purges)
      for (const one of acknowledged) assert.ok(all.includes(one), `${label}: "${one}" in ${JSON.stringify(all)}`);
    await assert.rejects(session.append(user("after")), { code: "not_found" }, label);
  }
  for (const store of goesOn ? [theirs, mine, last] : [theirs, last]) await store.close();
  rmSync(made.root, { recursive: true, maxRetries: 10 });
  return hasStopped;
}

/** @param {string} name @param {string} who @param {{ goesOn?: boolean, isReal?: boolean }} [options] */
async function everywhere(name, who, options) {
  let steps = 0;
  while (await stopBefore(name, who, steps + 1, options)) steps += 1;
  assert.ok(steps > 0);
}

for (const name of Object.keys(OPERATIONS)) {
  for (const who of Object.keys(APPENDERS)) {
    test(`${name}: nothing is lost of what is appended between any two of its steps, by ${who}`, () =>
      everywhere(name, who));
  }
  if (!/move|relocate|delete|purge/.test(name)) continue;
  test(`${name}: cut off at any of its steps, the session is in one place, with all that was acknowledged`, () =>
    everywhere(name, "who only opened it", { goesOn: false }));
  // In memory a file is its path. On a disk one that is open stays the same, wherever it lies.
  test(`${name}: nothing is lost that comes to a file which is open`, () =>
    everywhere(name, "who appended to it just now", { isReal: true }));
}
