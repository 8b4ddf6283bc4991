// @ts-check
/**
 * A project's current session: `<project>/.leftoff/current-session.json` says which; where the system allows links,
 * `current-session` leads there, for people. Derived: one that leads nowhere, or is no pointer, is none.
 */

import { homedir } from "node:os";
import { dirname, join } from "node:path";

import { bytesOf, called, textOf } from "./core.js";
import { unlessBug } from "./error.js";
import { names } from "./placement.js";

/** @import { Storage } from "./storage/contract.js" */

/**
 * Points to a session. A project that cannot be written in has no pointer, nor has a folder of many projects.
 * @param {Storage} storage @param {string} project @param {{ id: string, path: string }} session
 * @returns {Promise<boolean>} whether it is written
 */
export async function pointAt(storage, project, { id, path }) {
  if (!called((core) => core.mayHavePointer(project, dirname(project), homedir()))) return false;
  const { ignore, ignored, pointer, pointerLink } = names();
  try {
    if (!(await storage.stat(join(project, ignore)))) await storage.replace(join(project, ignore), bytesOf(ignored));
    await storage.replace(join(project, pointer), bytesOf(called((core) => core.writePointer(id, path))));
    await storage.link(join(project, pointerLink), path).catch(unlessBug);
    return true;
  } catch (error) {
    unlessBug(error);
    return false;
  }
}

/** Takes the pointer away. @param {Storage} storage @param {string} project */
export async function unpoint(storage, project) {
  for (const name of [names().pointer, names().pointerLink]) await storage.remove(join(project, name));
}

/**
 * The id and the path that it says; whether there is such a session, the caller looks.
 * @param {Storage} storage @param {string} project
 * @returns {Promise<{ id: string, path: string } | undefined>}
 */
export async function pointed(storage, project) {
  const bytes = await storage.read(join(project, names().pointer)).catch(unlessBug);
  return bytes ? called((core) => core.readPointer(textOf(bytes))) : undefined;
}
