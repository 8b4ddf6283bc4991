// @ts-check
/** How Gemini CLI calls a folder: what it has called it before, or what it would call it now. */

import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";

// The file in which a folder under `tmp` says whose it is.
const OWNER = ".project_root";

/**
 * The name is the project's from then on, as if the client had given it.
 * @param {string} home @param {string} folder
 */
export async function geminiPlace(home, folder) {
  const project = normal(folder);
  const known = await registered(home);
  const bases = [join(home, "tmp"), join(home, "history")];
  const own = known[project];
  if (own && (await isFree(bases, own, project))) return own;
  for (const base of bases) {
    for (const name of await names(base)) {
      if ((await owner(base, name)) === project) return name;
    }
  }
  const taken = new Set(Object.values(known));
  for (let number = 0; ; number += 1) {
    const name = number === 0 ? slug(project) : `${slug(project)}-${number}`;
    if (taken.has(name) || !(await isFree(bases, name, project))) continue;
    await mkdir(join(home, "tmp", name), { recursive: true });
    await writeFile(join(home, "tmp", name, OWNER), project, { flag: "wx" });
    return name;
  }
}

/** @param {string} home @returns {Promise<Record<string, string>>} */
async function registered(home) {
  const text = (await textOf(join(home, "projects.json"))) ?? "{}";
  try {
    return JSON.parse(text).projects ?? {};
  } catch {
    return {}; // The client begins anew, too.
  }
}

/** Whether it is nobody's, or the project's own. @param {string[]} bases @param {string} name @param {string} project */
async function isFree(bases, name, project) {
  const owners = await Promise.all(bases.map((base) => owner(base, name)));
  return owners.every((one) => one === null || one === project);
}

/** @param {string} base @param {string} name */
async function owner(base, name) {
  const text = await textOf(join(base, name, OWNER));
  return text === null ? null : normal(text.trim());
}

/** @param {string} path */
async function textOf(path) {
  return unlessAbsent(readFile(path, "utf8"), null);
}

/** @param {string} base */
async function names(base) {
  const entries = await unlessAbsent(readdir(base, { withFileTypes: true }), []);
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

/** @template T, F @param {Promise<T>} found @param {F} otherwise @returns {Promise<T | F>} */
async function unlessAbsent(found, otherwise) {
  try {
    return await found;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "ENOENT") return otherwise;
    throw error;
  }
}

/** @param {string} path */
function normal(path) {
  return process.platform === "win32" ? resolve(path).toLowerCase() : resolve(path);
}

/** @param {string} project */
function slug(project) {
  return (
    basename(project)
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "") || "project"
  );
}
