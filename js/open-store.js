// @ts-check
/** Opening a store: where its files are, and what holds there. */

import { homedir } from "node:os";
import { join, resolve } from "node:path";

import { realPath, refuseUnlessFolder, workingFolder } from "./folder.js";
import { Places } from "./places.js";
import { Redaction, storeKey } from "./redaction.js";
import { readSettings, settingsFiles } from "./settings.js";
import { NodeStorage } from "./storage/node.js";
import { Store } from "./store.js";

/** @import { Storage } from "./storage/contract.js" */
/** @import { Redact } from "./types/index.js" */

/**
 * Opens a store.
 * @param {{ project?: string, home?: string, workspace?: string, storage?: Storage, isCounted?: boolean, idleMs?: number, redact?: Redact }} [options]
 *   `project`: the folder that is worked in; `home`: `$LEFTOFF_HOME`, else `~/.leftoff`; `workspace`: the folder with
 *   `conversations/`: new sessions begin there, where it is given; else the project's is read; `isCounted`: whether
 *   messages are counted when they are appended, which saves counting them in each context; true unless given;
 *   `idleMs`: after so long without activity a session is paused by whoever looks next; the setting `idleMinutes`
 *   unless given; `redact`: what becomes of secrets in what leaves the store: `off`, `report` or `replace`; the setting of
 *   that name unless given
 */
export async function openStore({ project, home, workspace, storage, isCounted = true, idleMs, redact } = {}) {
  const folder = resolve(home || process.env.LEFTOFF_HOME || join(homedir(), ".leftoff"));
  if (!storage) refuseUnlessFolder(folder);
  const path = realPath(project ?? workingFolder());
  const ofHome = storage ?? new NodeStorage({ root: folder });
  // One with a root for each workspace; what is imported lies outside of all.
  const storageAt = (/** @type {string | undefined} */ root) => storage ?? new NodeStorage({ root });
  const given = workspace === undefined ? undefined : realPath(workspace);
  const places = new Places({ home: folder, workspace: given ?? path, storage: ofHome, storageAt });
  const files = settingsFiles({ home: { storage: ofHome, folder }, project: { storage: places.storageOf(path), folder: path } });
  const read = await readSettings(files);
  const redaction = new Redaction(redact ?? read.settings.redact, () => storeKey(ofHome, join(folder, "redaction.key")));
  return new Store({ project: path, home: folder, workspace: given, storage: ofHome, places, isCounted, idleMs, files, read, redaction });
}
