// @ts-check
// The end of `prepack`: refuses to pack a package that lacks what its own exports name, or what these load. npm would
// silently leave out what is missing.

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { fail, root } from "./run.mjs";

/**
 * The files that a package's exports and programs name, whatever the condition.
 * @param {unknown} named
 * @returns {string[]}
 */
export function filesOf(named) {
  if (typeof named === "string") return [named.replace(/^\.\//, "")];
  return Object.values(/** @type {object} */ (named ?? {})).flatMap(filesOf);
}

/**
 * Bundles scripts with all that they load; answers why that fails.
 * @param {string} folder
 * @param {string[]} scripts
 * @returns {Promise<string[]>}
 */
export async function notLoaded(folder, scripts) {
  const options = /** @type {const} */ ({
    bundle: true,
    write: false,
    outdir: "out",
    absWorkingDir: folder,
    packages: "external",
    platform: "node",
    loader: { ".wasm": "empty" },
    logLevel: "silent",
  });
  const entryPoints = scripts.map((file, place) => ({ in: file, out: String(place) }));
  const { errors } = await build({ ...options, entryPoints, format: "esm" }).catch((failure) => failure);
  return [...new Set(/** @type {import("esbuild").Message[]} */ (errors).map(({ text }) => text))];
}

/** A file's size; none where it is missing. @param {string} path */
const sizeOf = (path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

if (import.meta.url === pathToFileURL(String(process.argv[1])).href) {
  const { bin, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const files = [...new Set(filesOf({ bin, exports }))];
  const missing = files.filter((file) => sizeOf(join(root, file)) === 0);
  if (missing.length > 0) fail(`expected ${missing.join(", ")}, but found nothing there: npm run setup makes them`);
  const wrong = await notLoaded(
    root,
    files.filter((file) => /\.[cm]?js$/.test(file)),
  );
  if (wrong.length > 0) fail(`expected what leftoff loads, but found ${wrong.join("; ")}: npm run setup makes it anew`);
  const { SIZES } = await import("../pkg/sizes.js");
  for (const [name, size] of Object.entries(SIZES)) {
    const found = sizeOf(join(root, "pkg", name));
    if (found !== size) fail(`expected ${size} bytes in pkg/${name}, but found ${found}: npm run setup makes it anew`);
  }
}
