// @ts-check
/** The folders in which agents keep what they have, as variables of the environment may say. */

import { homedir, userInfo } from "node:os";
import { normalize } from "node:path";

import { agents } from "../wasm/agents.js";
import { toBytes } from "../wasm/core.js";

/** @typedef {Record<string, string | undefined>} Env */

/** @param {Env} env */
export function userHome(env) {
  return env.HOME || homedir() || userInfo().homedir;
}

/** That of an agent; empty where it keeps all in projects. @param {string} agent @param {Env} env */
export async function agentHome(agent, env) {
  await agents.ready();
  return normalize(agents.called(({ homeOf }) => homeOf(agent, toBytes(asked(env)))) ?? "");
}

/** Who works, as the core wants to know it. @param {Env} env */
export function asked(env) {
  return { user: userHome(env), variables: { ...env } };
}
