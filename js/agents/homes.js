// @ts-check
/** The user's home and variables, by which agents keep their files. */

import { ownFolder } from "../storage/real-path.js";

/** @typedef {Record<string, string | undefined>} Env */

/** @param {Env} env */
export function userHome(env) {
  return env.HOME || ownFolder();
}

/** The user's environment, as the core takes it. @param {Env} env */
export function userEnvironment(env) {
  return { user: userHome(env), variables: { ...env } };
}
