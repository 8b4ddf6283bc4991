// @ts-check
// A store on storages that stop before their steps.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";

import { MemoryStorage } from "../../js/index.js";
import { Places } from "../../js/placement/places.js";
import { Redaction } from "../../js/privacy/redaction.js";
import { NodeStorage } from "../../js/storage/node.js";
import { storeOf } from "../../js/store/store.js";
import { readSettings } from "../../js/wasm/store.js";

/** @import { Session } from "../../js/session/session.js" */

const folder = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-moving-")));
after(() => rmSync(folder, { recursive: true, maxRetries: 10 }));

const LOOKS = ["read", "readRange", "list", "stat"];
const CHANGES = ["append", "replace", "move", "link", "remove"];
/** What comes before the next step of the operation under test. @type {{ next?: () => Promise<void> }} */
export const before = {};

/**
 * A storage that stops before its steps.
 * @param {any} storage
 * @param {string[]} verbs which of them count
 * @returns {any}
 */
function stopping(storage, verbs) {
  const stops = verbs.map((verb) => [
    verb,
    async (/** @type {unknown[]} */ ...args) => {
      await before.next?.();
      return storage[verb](...args);
    },
  ]);
  const others = [...LOOKS, ...CHANGES]
    .filter((verb) => !verbs.includes(verb))
    .map((verb) => [verb, storage[verb].bind(storage)]);
  return {
    capabilities: storage.capabilities,
    ...Object.fromEntries([...stops, ...others]),
    close: () => (storage instanceof NodeStorage ? storage.close() : undefined),
  };
}

/**
 * A store whose home and whose workspaces have storages of their own.
 * @param {{ home: string, project: string, idleMs?: number }} where
 * @param {(root?: string) => any} storageAt
 */
async function openWithStorages({ home, project, idleMs }, storageAt) {
  const storage = storageAt(home);
  const places = new Places({ storage, storageAt });
  const nothing = new MemoryStorage();
  const read = await readSettings({ home, project, storage: nothing, storageOf: () => nothing });
  return storeOf({
    project,
    home,
    workspace: project,
    storage,
    places,
    countTokens: true,
    idleMs,
    read,
    redaction: Redaction.none,
  });
}

/** @param {string} content */
export const user = (content) => ({ role: "user", content });

/** @param {Session} session */
export async function contents(session) {
  const all = [];
  for await (const { content } of session.messages()) all.push(content);
  return all;
}

/** @typedef {ReturnType<typeof scene>} Scene */
/** A home, a project, another one, and a file of an agent. @param {boolean} isReal on the disk, else in memory */
export function scene(isReal) {
  const root = mkdtempSync(join(folder, "scene-"));
  const [home = "", project = "", other = ""] = ["home", "project", "other"].map((part) => {
    mkdirSync(join(root, part));
    return join(root, part);
  });
  const memory = new MemoryStorage();
  // On a disk looks alone are not stopped before: what they find is changed by none but the steps that are.
  const storageAt = (/** @type {string | undefined} */ at) =>
    isReal ? stopping(new NodeStorage({ root: at }), CHANGES) : stopping(memory, [...LOOKS, ...CHANGES]);
  const storage = isReal ? new NodeStorage() : memory;
  return {
    root,
    home,
    project,
    other,
    storage,
    file: join(root, "chat.jsonl"),
    open: (/** @type {{ idleMs?: number }} */ { idleMs } = {}) =>
      openWithStorages({ home, project, idleMs }, storageAt),
  };
}
