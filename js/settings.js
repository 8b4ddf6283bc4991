// @ts-check
/**
 * Settings: `<home>/settings.json`, over it `<project>/.leftoff/settings.json`. A key that nobody knows is reported, and
 * so is a value of another kind; neither stops anything.
 */

import { join } from "node:path";

import { fromBytes } from "./core.js";
import { LeftoffError } from "./error.js";

/** @import { Storage } from "./storage/contract.js" */

/**
 * Document 004's `AutoPersistConfig`.
 * @typedef {object} AutoPersistConfig
 * @property {boolean} enabled
 * @property {boolean} saveAfterAssistantMessage
 * @property {boolean} saveAfterToolExecution
 * @property {number} debounceMs saves that come faster become one
 * @property {number} updateMetadataIntervalMs how often the document is written while something changes
 * @property {number} maxSessionsPerProject more are archived, the longest inactive first; never deleted
 * @property {number} autoArchiveAfterDays inactive for longer: archived; never deleted
 *
 * @typedef {object} Settings
 * @property {AutoPersistConfig} autoPersist
 * @property {number} idleMinutes after so long without activity a session is paused by whoever looks next
 */

/** What holds unless a file says otherwise: document 004's values. @type {Readonly<Settings>} */
export const DEFAULTS = Object.freeze({
  autoPersist: Object.freeze({
    enabled: true,
    saveAfterAssistantMessage: true,
    saveAfterToolExecution: true,
    debounceMs: 1000,
    updateMetadataIntervalMs: 5000,
    maxSessionsPerProject: 50,
    autoArchiveAfterDays: 30,
  }),
  idleMinutes: 5,
});

/**
 * The settings of a project, and what in the files could not be used.
 * @param {{ home: { storage: Storage, folder: string }, project: { storage: Storage, folder: string } }} places
 * @returns {Promise<{ settings: Settings, problems: string[] }>}
 */
export async function readSettings({ home, project }) {
  /** @type {string[]} */
  const problems = [];
  let settings = /** @type {Settings} */ (structuredClone(DEFAULTS));
  for (const { storage, path } of [
    { storage: home.storage, path: join(home.folder, "settings.json") },
    { storage: project.storage, path: join(project.folder, ".leftoff", "settings.json") },
  ]) {
    const bytes = await storage.read(path);
    if (bytes) settings = /** @type {Settings} */ (over(settings, parsed(bytes, path, problems), { path, key: "", problems }));
  }
  return { settings, problems };
}

/**
 * Writes one setting into a file, beside what is there. A file that is no JSON is not touched.
 * @param {Storage} storage @param {string} path @param {string} key with dots: `autoPersist.debounceMs`
 * @param {unknown} value
 */
export async function writeSetting(storage, path, key, value) {
  /** @type {string[]} */
  const problems = [];
  const bytes = await storage.read(path);
  const document = bytes ? parsed(bytes, path, problems) : {};
  const names = key.split(".");
  const wanted = names.reduceRight((inner, name) => ({ [name]: inner }), value);
  over(structuredClone(DEFAULTS), wanted, { path, key: "", problems });
  if (problems.length > 0) throw new LeftoffError({ code: "invalid_setting", message: problems.join("; ") });
  const last = /** @type {string} */ (names.pop());
  let at = document;
  for (const name of names) at = at[name] = isObject(at[name]) ? at[name] : {};
  at[last] = value;
  await storage.replace(path, new TextEncoder().encode(`${JSON.stringify(document, null, 2)}\n`));
}

/** @param {Uint8Array} bytes @param {string} path @param {string[]} problems @returns {any} */
function parsed(bytes, path, problems) {
  try {
    const value = fromBytes(bytes);
    if (isObject(value)) return value;
    problems.push(`expected an object in "${path}", but found ${kindOf(value)} instead`);
  } catch (error) {
    problems.push(`expected JSON in "${path}", but found something else: ${error instanceof Error ? error.message : error}`);
  }
  return {};
}

// What is known decides which keys there are, and of which kind.
/** @param {any} known @param {any} given @param {{ path: string, key: string, problems: string[] }} where @returns {any} */
function over(known, given, { path, key, problems }) {
  const merged = { ...known };
  for (const [name, value] of Object.entries(given)) {
    const full = key ? `${key}.${name}` : name;
    if (!Object.hasOwn(known, name)) {
      problems.push(`expected a known setting in "${path}", but found "${full}" instead; known are ${Object.keys(known).join(", ")}`);
    } else if (isObject(known[name])) {
      if (isObject(value)) merged[name] = over(known[name], value, { path, key: full, problems });
      else problems.push(`expected an object for "${full}" in "${path}", but found ${kindOf(value)} instead`);
    } else if (typeof value !== typeof known[name] || (typeof value === "number" && !(Number.isFinite(value) && value >= 0))) {
      problems.push(`expected a ${typeof known[name]} for "${full}" in "${path}", but found ${JSON.stringify(value)} instead`);
    } else {
      merged[name] = value;
    }
  }
  return merged;
}

/** @param {unknown} value @returns {value is Record<string, any>} */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @param {unknown} value */
function kindOf(value) {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}
