// @ts-check
/** The folders in which agents keep what they have, as variables of the environment may say. */

import { normalize } from "node:path";

import { ownFolder } from "../storage/real-path.js";
import { agents } from "../wasm/agents.js";
import { toBytes } from "../wasm/core.js";

/** @typedef {Record<string, string | undefined>} Env */

/** @param {Env} env */
export function userHome(env) {
  return env.HOME || ownFolder();
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
