// @ts-check
/** Opening a store: its folders, storages and settings. */

import { runGit, defaultHome, realPath, storages, workingFolder } from "../host/host.node.js";
import { resolve } from "../host/path.node.js";
import { agents } from "../wasm/agents.js";
import { coreModule } from "../wasm/core.js";
import { checkOptions } from "../wasm/options.js";
import { Places } from "../placement/places.js";
import { Redaction } from "../privacy/redaction.js";
import { readOnlyStorages } from "../storage/read-only.js";
import { readSettings } from "../wasm/store.js";
import { storeOf } from "./store.js";

/** @import { StoreOptions } from "../types/index.js" */

/**
 * Opens a store, which keeps conversations, for one project.
 * @param {StoreOptions} [options]
 * @returns {Promise<import("./store.js").Store>}
 * @throws {LeftoffError} `not_found` or `not_a_folder` for a project or a workspace that is none, `not_found` also
 *   where neither a home nor a
 * storage is given and the runtime hides the user's folder; `not_a_folder` and `permission_denied` for a home that
 * cannot be one; `invalid_request` for an option that is not known
 * @example
 * const opened = await openStore({ home: folder });
 * const session = await opened.continue({ model: "gpt-5" });
 * await session.append({ role: "user", content: "Hello" });
 * await opened.close();
 */
export async function openStore(options = {}) {
  const {
    project,
    home,
    workspace,
    storage,
    countTokens = true,
    idleMs,
    redact,
    readOnly = false,
  } = checkOptions("openStore", options);
  await coreModule.ready();
  const folder = resolve(home || defaultHome() || ".leftoff");
  // A storage for each root; imported files lie outside of all.
  const storageAt = readOnlyStorages(storage ? () => storage : await storages(home || defaultHome()), readOnly);
  // A caller's storage may hold paths that are nowhere on this machine.
  const placeOf = storage ? resolve : realPath;
  const path = placeOf(project ?? workingFolder());
  const ofHome = storageAt(folder);
  const places = new Places({ storage: ofHome, storageAt });
  const read = await readSettings({
    home: folder,
    project: path,
    storage: ofHome,
    storageOf: (root) => places.storageOf(root),
  });
  if ((redact ?? read.settings.redact) !== "off") await agents.ready();
  const redaction = new Redaction(redact ?? read.settings.redact, { storage: ofHome, folder });
  return storeOf({
    project: path,
    home: folder,
    workspace: workspace === undefined ? undefined : placeOf(workspace),
    storage: ofHome,
    places,
    countTokens,
    idleMs,
    read,
    redaction,
    runGit: storage ? undefined : runGit,
  });
}
