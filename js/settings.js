// @ts-check
/**
 * Settings: `<home>/settings.json`, over it `<project>/.leftoff/settings.json`. A key that nobody knows is reported, and
 * so are a value of another kind and a file that cannot be read; none of them stops anything. But what such a file may
 * have forbidden stays forbidden: where nobody can tell what it says of a choice, the strictest holds.
 */

import { join } from "node:path";

import { bytesOf, textOf } from "./core.js";
import { LeftoffError } from "./error.js";
import { looked } from "./json-text.js";
import { distance } from "./cli/nearest.js";
import { REDACT } from "./redaction.js";

/** @import { Storage } from "./storage/contract.js" */
/** @import { AutoPersistConfig, Settings } from "./types/index.js" */

/**
 * Where a value comes from.
 * @typedef {"default" | "home" | "project"} Source
 * @typedef {{ storage: Storage, path: string, source: Source }} SettingsFile
 *
 * @typedef {object} ReadSettings
 * @property {Settings} settings
 * @property {Map<string, { source: Source, path: string }>} sources by key, as `autoPersist.debounceMs`; those that
 *   are not by default
 * @property {{ code: "invalid_setting", message: string }[]} problems what in the files could not be used
 */

/** What holds unless a file says otherwise. @type {Readonly<Settings>} */
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
  record: true,
  redact: "off",
  agent: "",
});

/** The settings that have one of a few values, the laxest first: no file has less than one that counts less. @type {Record<string, readonly unknown[]>} */
const CHOICES = { redact: REDACT, record: [true, false] };

/** The key of each. */
export const settingKeys = keysOf(DEFAULTS);

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

/** @param {SettingsFile[]} files @returns {Promise<ReadSettings>} */
export async function readSettings(files) {
  /** @type {Said[]} */
  const said = [];
  /** @type {string[]} */
  const problems = [];
  const read = files.map(async ({ storage, path, source }) => ({ path, source, ...(await documentAt(storage, path)) }));
  for (const { path, source, document = {}, repeated = [], problem } of await Promise.all(read)) {
    take(document, { known: DEFAULTS, path, key: "", problems, say: (key, value) => said.push({ key, value, source, path }) });
    const unclear = problem ? Object.keys(CHOICES) : Object.keys(CHOICES).filter((key) => isUnclear(key, document, repeated));
    const strict = unclear.map((key) => ({ key, value: CHOICES[key]?.at(-1), source, path }));
    if (problem) problems.push(`${problem}; ${heldTo(strict)}`);
    else if (strict.length > 0) problems.push(`expected "${path}" to say clearly what "${unclear.join('", "')}" is to be, but found something else; ${heldTo(strict)}`);
    said.push(...strict);
  }
  const settings = structuredClone(DEFAULTS);
  const used = said.filter(({ key, value, path }) => {
    const before = valueAt(settings, key);
    // A folder that comes from somebody else must not open what its user has shut.
    const isLess = key in CHOICES && CHOICES[key].indexOf(value) < CHOICES[key].indexOf(before);
    if (isLess) problems.push(`expected "${before}" or stricter for "${key}" in "${path}", as the home says, but found "${value}" instead`);
    else put(settings, key, value);
    return !isLess;
  });
  return {
    settings,
    sources: new Map(used.map(({ key, source, path }) => [key, { source, path }])),
    problems: problems.map((message) => ({ code: "invalid_setting", message })),
  };
}

/**
 * Each setting with its key, value, and where it comes from.
 * @param {Pick<ReadSettings, "settings" | "sources">} read
 */
export function flat({ settings, sources }) {
  return settingKeys.map((key) => {
    const { source = /** @type {Source} */ ("default"), path = undefined } = sources.get(key) ?? {};
    return { key, value: valueAt(settings, key), source, path: path ?? null };
  });
}

/**
 * Writes one setting into a file, beside what is there. A file that is no JSON is not touched, nor is a value in it
 * that stands where others should.
 * @param {Pick<SettingsFile, "storage" | "path">} file @param {string} key `autoPersist.debounceMs`
 * @param {unknown} value undefined takes it out
 */
export async function writeSetting({ storage, path }, key, value) {
  if (!settingKeys.includes(key)) refuse([`expected one of ${settingKeys.join(", ")}, but found "${key}" instead`]);
  const { document = {}, problem } = await documentAt(storage, path);
  /** @type {string[]} */
  const problems = problem ? [problem] : [];
  const [group = "", ...rest] = key.split(".");
  if (rest.length > 0 && Object.hasOwn(document, group) && !isObject(document[group])) {
    problems.push(`expected an object for "${group}" in "${path}", but found ${shownOf(document[group])} instead`);
  }
  if (value !== undefined) take(put({}, key, value), { known: DEFAULTS, path, key: "", problems, say: () => {} });
  refuse(problems);
  const next = value === undefined ? without(document, key) : put(document, key, value);
  // No file is made to say nothing.
  if (value !== undefined || (await storage.stat(path))) await storage.replace(path, bytesOf(`${JSON.stringify(next, null, 2)}\n`));
}

/**
 * A configuration given by a program; refuses what could not stand in a file.
 * @param {Partial<AutoPersistConfig>} given @returns {AutoPersistConfig}
 */
export function autoPersistConfig(given) {
  /** @type {string[]} */
  const problems = [];
  const config = { ...DEFAULTS.autoPersist };
  const asked = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  take(asked, { known: DEFAULTS.autoPersist, path: "the configuration", key: "", problems, say: (key, value) => put(config, key, value) });
  refuse(problems);
  return config;
}

/** @typedef {{ key: string, value: unknown, source: Source, path: string }} Said */

/** @param {Storage} storage @param {string} path @returns {Promise<{ document?: Record<string, any>, repeated?: string[], problem?: string }>} */
async function documentAt(storage, path) {
  let text;
  try {
    const bytes = await storage.read(path);
    if (!bytes) return {};
    text = textOf(bytes);
  } catch (error) {
    if (error instanceof LeftoffError) return { problem: error.message };
    throw error;
  }
  const { error, repeated } = looked(text);
  if (error) return { problem: `expected JSON in "${path}", but found ${error.found} at line ${error.line}, column ${error.column}` };
  const value = JSON.parse(text);
  if (isObject(value)) return { document: value, repeated };
  return { problem: `expected an object in "${path}", but found ${shownOf(value)} instead` };
}

// Said twice, said by a value that nothing has, or by a key that differs from it in its case or by a letter or two.
/** @param {string} key @param {Record<string, any>} document @param {string[]} repeated */
function isUnclear(key, document, repeated) {
  if (repeated.includes(key)) return true;
  return Object.entries(document).some(([name, value]) => (name === key ? !CHOICES[key]?.includes(value) : !Object.hasOwn(DEFAULTS, name) && isLike(name, key)));
}

/** @param {string} name @param {string} key */
function isLike(name, key) {
  const bare = name.toLowerCase().replace(/[^a-z]/g, "");
  return bare.includes(key) || distance(bare, key) <= 2;
}

/** @param {{ key: string, value: unknown }[]} strict */
function heldTo(strict) {
  return `until that is mended, ${strict.map(({ key, value }) => `"${key}" is ${JSON.stringify(value)}`).join(" and ")}`;
}

// What is known decides which keys there are, and of which kind.
/**
 * @param {Record<string, any>} given
 * @param {{ known: Record<string, any>, path: string, key: string, problems: string[], say: (key: string, value: unknown) => void }} where
 */
function take(given, { known, path, key, problems, say }) {
  for (const [name, value] of Object.entries(given)) {
    const full = key ? `${key}.${name}` : name;
    const fallback = Object.hasOwn(known, name) ? known[name] : undefined;
    if (fallback === undefined) {
      problems.push(`expected a known setting in "${path}", but found "${full}" instead; known are ${Object.keys(known).join(", ")}`);
    } else if (isObject(fallback)) {
      if (isObject(value)) take(value, { known: fallback, path, key: full, problems, say });
      else problems.push(`expected an object for "${full}" in "${path}", but found ${shownOf(value)} instead`);
    } else if (typeof value !== typeof fallback) {
      problems.push(`expected a ${typeof fallback} for "${full}" in "${path}", but found ${shownOf(value)} instead`);
    } else if (full in CHOICES && !CHOICES[full]?.includes(value)) {
      problems.push(`expected ${CHOICES[full]?.join(", ")} for "${full}" in "${path}", but found ${JSON.stringify(value)} instead`);
    } else if (typeof value === "number" && !(Number.isFinite(value) && value >= 0)) {
      problems.push(`expected 0 or more for "${full}" in "${path}", but found ${value} instead`);
    } else {
      say(full, value);
    }
  }
}

/** @param {string[]} problems */
function refuse(problems) {
  if (problems.length > 0) throw new LeftoffError({ code: "invalid_setting", message: problems.join("; ") });
}

/** @param {Record<string, any>} known @param {string} [above] @returns {string[]} */
function keysOf(known, above = "") {
  return Object.entries(known).flatMap(([name, value]) => (isObject(value) ? keysOf(value, `${above}${name}.`) : [`${above}${name}`]));
}

/** @param {any} settings @param {string} key */
function valueAt(settings, key) {
  return key.split(".").reduce((at, name) => at[name], settings);
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
  const left = rest.length > 0 && isObject(found) ? without(found, rest.join(".")) : {};
  return Object.keys(left).length > 0 ? { ...settings, [first]: left } : others;
}

/** @param {unknown} value @returns {value is Record<string, any>} */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** As it is told that it cannot be used: what is short as it stands. @param {unknown} value */
function shownOf(value) {
  if (Array.isArray(value)) return "an array";
  return isObject(value) ? "an object" : shortened(JSON.stringify(value));
}

/** @param {string} json */
function shortened(json) {
  return json.length > 40 ? `${json.slice(0, 40)}…` : json;
}
