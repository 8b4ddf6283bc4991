// @ts-check
/** The files of settings: the core says what they say, and what they say next; here they are read and replaced. */

import { join } from "../host/path.node.js";

import { agents } from "../wasm/agents.js";
import { bytesOf, called, fromBytes, textOf, toBytes } from "../wasm/core.js";
import { LeftoffError } from "../error.js";

/** @import { Storage } from "../storage/contract.js" */
/** @import { Setting, SettingProblem, Settings } from "../types/index.js" */

/**
 * @typedef {{ storage: Storage, path: string, source: Setting["source"] }} SettingsFile
 *
 * @typedef {object} ReadSettings
 * @property {Settings} settings
 * @property {Setting[]} all each of them
 * @property {SettingProblem[]} problems what in the files could not be used
 */

/**
 * The files that have settings, the one that counts more last.
 * @param {{ home: { storage: Storage, folder: string }, project: { storage: Storage, folder: string } }} places
 * @returns {SettingsFile[]}
 */
export function settingsFiles({ home, project }) {
  const ofHome = { storage: home.storage, path: join(home.folder, "settings.json"), source: /** @type {const} */ ("home") };
  const path = join(project.folder, ".leftoff", "settings.json");
  // Of who works in the folder with the home, they are one.
  return path === ofHome.path ? [ofHome] : [ofHome, { storage: project.storage, path, source: "project" }];
}

/** The key of each. */
export function settingKeys() {
  return called((core) => core.settingKeys());
}

/** @param {SettingsFile[]} files @returns {Promise<ReadSettings>} */
export async function readSettings(files) {
  const found = toBytes(await Promise.all(files.map(asFound)));
  return fromBytes(called((core) => core.readSettings(found)));
}

/**
 * Writes one setting into a file, beside what is there. A file that is no JSON is not touched, nor is a value in it
 * that stands where others should.
 * @param {SettingsFile} file @param {string} key `autoPersist.debounceMs`
 * @param {unknown} value undefined takes it out
 */
export async function writeSetting(file, key, value) {
  const { storage, path } = file;
  const found = await asFound(file);
  // What JSON cannot say is null there, which no setting is.
  const json = value === undefined ? undefined : (JSON.stringify(value) ?? "null");
  await agents.ready();
  const text = agents.called((agents) => agents.writtenSetting(key, json, toBytes([found])));
  if (text !== undefined) await storage.replace(path, bytesOf(text));
}

/** What the core reads: the text of a file, or why there is none. @param {SettingsFile} file */
async function asFound({ storage, path, source }) {
  try {
    const bytes = await storage.read(path);
    return { path, source, text: bytes ? textOf(bytes) : undefined };
  } catch (error) {
    if (!(error instanceof LeftoffError)) throw error;
    return { path, source, problem: error.message };
  }
}
