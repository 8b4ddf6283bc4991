// @ts-check
/** Who works, by whose home and variables agents keep what they have. */

import { ownFolder } from "../storage/real-path.js";

/** @typedef {Record<string, string | undefined>} Env */

/** @param {Env} env */
export function userHome(env) {
  return env.HOME || ownFolder();
}

/** Who works, as the core wants to know it. @param {Env} env */
export function userEnvironment(env) {
  return { user: userHome(env), variables: { ...env } };
}
