// @ts-check
/**
 * How long agents' clients keep their own files. Claude Code deletes a session's file when it is started, once the file
 * was not changed for so many days as its settings say; it deletes none while a file of settings cannot be read.
 */

import { dirname, join } from "node:path";

import { readConfigFile } from "./mcp.js";

/** @import { TranscriptLocation } from "./transcript-locations.js" */

const DAY_MS = 86_400_000;
const KEY = "cleanupPeriodDays";
/** Unless it is set. */
const DEFAULT_DAYS = 30;
/** Where an administrator sets it: what is said there counts, whatever others say. @type {Record<string, string>} */
const MANAGED_SETTINGS = {
  darwin: "/Library/Application Support/ClaudeCode/managed-settings.json",
  win32: "C:\\Program Files\\ClaudeCode\\managed-settings.json",
};
const DEFAULT_MANAGED_SETTINGS = "/etc/claude-code/managed-settings.json";

/**
 * How many days the files in a place are kept after their last change.
 * @param {TranscriptLocation} place @param {{ project: string, platform?: string }} where
 * @returns {Promise<number | undefined>} nothing where none is deleted
 */
export async function retentionDays({ agent, path }, { project, platform = process.platform }) {
  if (agent !== "claude-code") return undefined;
  const managed = await readDays(MANAGED_SETTINGS[platform] ?? DEFAULT_MANAGED_SETTINGS);
  if (managed !== undefined) return managed;
  const user = (await readDays(join(dirname(path), "settings.json"))) ?? DEFAULT_DAYS;
  const own = await Promise.all(
    ["settings.local.json", "settings.json"].map((name) => readDays(join(project, ".claude", name))),
  );
  // A client that is started in this project deletes by its settings, and one elsewhere by the user's.
  return Math.min(user, own.find((days) => days !== undefined) ?? user);
}

/** When a file may be deleted. @param {number} mtimeMs of its last change @param {number} days that it is kept */
export const expiryOf = (mtimeMs, days) => mtimeMs + days * DAY_MS;

/** @param {string} path */
async function readDays(path) {
  const days = Reflect.get((await readConfigFile(path)) ?? {}, KEY);
  return Number.isSafeInteger(days) && days > 0 ? /** @type {number} */ (days) : undefined;
}
