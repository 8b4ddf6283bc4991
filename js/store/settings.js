// @ts-check
/** What the core knows of settings, without a store. */

import { called } from "../wasm/core.js";

/** @import { Setting, SettingProblem, Settings } from "../types/index.js" */

/**
 * @typedef {object} ReadSettings
 * @property {Settings} settings
 * @property {Setting[]} all each of them
 * @property {SettingProblem[]} problems what in the files could not be used
 */

/** The key of each. */
export function settingKeys() {
  return called((core) => core.settingKeys());
}
