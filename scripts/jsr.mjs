// @ts-check
// Writes the package for JSR, in a folder of its own: modules, types that name their files, and what they load.

import { copyFileSync, cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { root } from "./run.mjs";

const ENTRIES = { ".": "index", "./storage/memory": "memory", "./storage/node": "node" };
const TYPES = /** @type {Record<string, string>} */ ({
  index: "index.d.ts",
  memory: "storage/memory.d.ts",
  node: "storage/node.d.ts",
});
const FILES = ["leftoff.wasm", "agents.wasm", "o200k_base.planes", "cl100k_base.planes"];

/**
 * Writes the package.
 * @param {string} folder an empty one
 * @param {string} owner the repository's owner, for the scope of the name
 */
export function forJsr(folder, owner) {
  const { version, license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const exports = Object.fromEntries(Object.entries(ENTRIES).map(([name, file]) => [name, `./pkg/node/${file}.js`]));
  writeFileSync(
    join(folder, "jsr.json"),
    JSON.stringify({ name: `@${owner.toLowerCase()}/leftoff`, version, license, exports }, null, 2),
  );
  mkdirSync(join(folder, "pkg", "node"), { recursive: true });
  for (const name of readdirSync(join(root, "pkg", "node")).filter((one) => one.endsWith(".js"))) {
    // Without comments: they name types of files that do not ship.
    const { code } = transformSync(readFileSync(join(root, "pkg", "node", name), "utf8"), {
      minifyWhitespace: true,
      format: "esm",
    });
    const types = TYPES[name.replace(/\.js$/, "")];
    writeFileSync(
      join(folder, "pkg", "node", name),
      `${types ? `/* @ts-self-types="../../types/${types}" */\n` : ""}${code}`,
    );
  }
  cpSync(join(root, "pkg", "inline"), join(folder, "pkg", "inline"), { recursive: true });
  for (const name of FILES) copyFileSync(join(root, "pkg", name), join(folder, "pkg", name));
  for (const name of ["README.md", "CHANGELOG.md", "LICENSE", join("pkg", "LICENSES.txt")])
    copyFileSync(join(root, name), join(folder, name));
  // The pages that README links to; pages made from the types JSR makes itself.
  for (const name of ["docs", "examples"])
    cpSync(join(root, name), join(folder, name), {
      recursive: true,
      filter: (path) => path !== join(root, "docs", "api"),
    });
  cpSync(join(root, "types"), join(folder, "types"), {
    recursive: true,
    filter: (path) => !/[/\\](?:cjs|compat)$/.test(path),
  });
  for (const name of readdirSync(join(folder, "types"), { recursive: true, encoding: "utf8" }).filter((one) =>
    one.endsWith(".d.ts"),
  )) {
    const path = join(folder, "types", name);
    // A reference to a library would apply to the whole program.
    const text = readFileSync(path, "utf8")
      .replace(/^\/\/\/ <reference .*\n/gm, "")
      .replace(/(from "|import\()("?\.[^"]*)\.js"/g, '$1$2.d.ts"');
    writeFileSync(path, text);
  }
}
