// @ts-check
/** The files of settings: what they say, the core tells; here they are read and written. */

import { join } from "node:path";

import { bytesOf, called, fromBytes, textOf, toBytes } from "../wasm/core.js";
import { LeftoffError } from "../error.js";

/** @import { Storage } from "../storage/contract.js" */
/** @import { AutoPersistConfig, Setting, SettingProblem, Settings } from "../types/index.js" */

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
  /** @type {{ all: Setting[], problems: string[] }} */
  const { all, problems } = fromBytes(called((core) => core.readSettings(found)));
  return { settings: grouped(all), all, problems: problems.map((message) => ({ code: "invalid_setting", message })) };
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
  called((core) => core.checkSetting(key, json, toBytes([found])));
  const document = found.text === undefined ? {} : JSON.parse(found.text);
  const next = value === undefined ? without(document, key) : put(document, key, value);
  // No file is made to say nothing.
  if (value !== undefined || found.text !== undefined) await storage.replace(path, bytesOf(`${JSON.stringify(next, null, 2)}\n`));
}

/**
 * A configuration given by a program; refuses what could not stand in a file.
 * @param {Partial<AutoPersistConfig>} given @returns {AutoPersistConfig}
 */
export function autoPersistConfig(given) {
  const asked = JSON.stringify(given, (_, value) => (typeof value === "function" ? null : value));
  return grouped(fromBytes(called((core) => core.autoPersistSettings(asked))));
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

/** @param {Setting[]} all @returns {any} */
function grouped(all) {
  const settings = {};
  for (const { key, value } of all) put(settings, key, value);
  return settings;
}

/** @template {Record<string, any>} T @param {T} settings @param {string} key @param {unknown} value */
function put(settings, key, value) {
  const [first = "", ...rest] = key.split(".");
  /** @type {Record<string, any>} */
  const at = settings;
  at[first] = rest.length > 0 ? put(at[first] ?? {}, rest.join("."), value) : value;
  return settings;
}

/** Without the key, and without a group that nothing is left of. @param {Record<string, any>} settings @param {string} key @returns {Record<string, any>} */
function without(settings, key) {
  const [first = "", ...rest] = key.split(".");
  const { [first]: found, ...others } = settings;
  const left = rest.length > 0 && typeof found === "object" && found !== null ? without(found, rest.join(".")) : {};
  return Object.keys(left).length > 0 ? { ...settings, [first]: left } : others;
}
