// @ts-check
/**
 * A project's current session: `<project>/.leftoff/current-session.json` says which; where the system allows links,
 * `current-session` leads there, for people. Derived: one that leads nowhere, or is no pointer, is none.
 */

import { homedir } from "node:os";
import { dirname, join } from "node:path";

import { bytesOf, toBytes } from "./core.js";
import { derived } from "./derived.js";
import { unlessBug } from "./error.js";

/** @import { Storage } from "./storage/contract.js" */

/** A pointer is nobody else's business: a repository sees nothing of the folder but settings. */
export const IGNORED = "*\n!settings.json\n";

/** What is no project of its own has no pointer: it would be everybody's. @param {string} project */
const isShared = (project) => project === homedir() || dirname(project) === project;

/** @param {string} project */
const folder = (project) => join(project, ".leftoff");

/**
 * Points to a session. A project that cannot be written in has no pointer, nor has a folder of many projects.
 * @param {Storage} storage @param {string} project @param {{ id: string, path: string }} session
 * @returns {Promise<boolean>} whether it is written
 */
export async function pointAt(storage, project, { id, path }) {
  if (isShared(project)) return false;
  const at = folder(project);
  try {
    const ignored = join(at, ".gitignore");
    if (!(await storage.stat(ignored))) await storage.replace(ignored, bytesOf(IGNORED));
    await storage.replace(join(at, "current-session.json"), toBytes({ version: 1, id, path }));
    await storage.link(join(at, "current-session"), path).catch(unlessBug);
    return true;
  } catch (error) {
    unlessBug(error);
    return false;
  }
}

/** Takes the pointer away. @param {Storage} storage @param {string} project */
export async function unpoint(storage, project) {
  for (const name of ["current-session.json", "current-session"]) await storage.remove(join(folder(project), name));
}

/**
 * The id and the path that it says; whether there is such a session, the caller looks.
 * @param {Storage} storage @param {string} project
 * @returns {Promise<{ id: string, path: string } | undefined>}
 */
export async function pointed(storage, project) {
  const { id, path } = (await derived(storage, join(folder(project), "current-session.json"))) ?? {};
  return typeof id === "string" && typeof path === "string" ? { id, path } : undefined;
}
