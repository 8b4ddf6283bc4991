// @ts-check
// Makes the JavaScript that ships from js/, by esbuild: for Node one CommonJS file, `pkg/all.cjs`, behind a file for
// each entry, so that `import` and `require` share one core and one class of errors; for other bundlers, for pages and
// for workerd modules.

import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { build as esbuild } from "esbuild";
import { licenses } from "./licenses.mjs";
import { root } from "./run.mjs";
import { buildHtmlParts, buildViewer } from "./viewer.mjs";

/** @import { BuildOptions, Plugin } from "esbuild" */

const pkg = join(root, "pkg");
const require = createRequire(import.meta.url);

/** The entries for Node, by import and by require: one name, one file of js/. */
export const ENTRIES = {
  index: "index.js",
  compat: "compat/index.js",
  memory: "storage/memory.js",
  node: "storage/node.js",
};
/** The entries for pages and workers. */
const PAGES = { index: "host/index.web.js", slim: "index.js", memory: "storage/memory.js", opfs: "storage/opfs.js" };
/** The entries for workerd. */
const WORKERD = { index: "index.js", memory: "storage/memory.js" };

/** The files that a bundle may carry along as text. */
const TEXTS = {
  leftoff: "leftoff.wasm",
  agents: "agents.wasm",
  context: "context.wasm",
  reader: "reader.wasm",
  o200k_base: "o200k_base.planes",
  cl100k_base: "cl100k_base.planes",
};

/** @type {BuildOptions} */
const SHARED_OPTIONS = {
  bundle: true,
  target: ["es2022"],
  legalComments: "inline",
  logLevel: "warning",
  absWorkingDir: root,
  chunkNames: "[name]-[hash]",
};

/** The files that were bundled. @type {Set<string>} */
const bundled = new Set();

/** @param {BuildOptions} options */
async function build(options) {
  const { metafile, outputFiles = [] } = await esbuild({ ...options, metafile: true });
  for (const file of Object.keys(metafile?.inputs ?? {})) bundled.add(file);
  return outputFiles;
}

/** Makes all bundles. */
export async function bundles() {
  for (const folder of ["cli", "inline", "node", "opencode", "viewer", "web", "workerd"])
    rmSync(join(pkg, folder), { recursive: true, force: true });
  texts();
  await forNode();
  await forAgents();
  await forLibraries();
  const esm = /** @type {const} */ ({ ...SHARED_OPTIONS, format: "esm", splitting: true });
  await build({
    ...esm,
    platform: "node",
    entryPoints: entries(ENTRIES),
    outdir: "pkg/node",
    plugins: [host([], "../")],
  });
  // Keeps blanks: without them esbuild leaves out the comments that keep bundlers from following optional packages.
  const minified = { ...esm, minifyIdentifiers: true, minifySyntax: true };
  await build({
    ...minified,
    platform: "browser",
    entryPoints: entries(PAGES),
    outdir: "pkg/web",
    plugins: [host(["web"], "../")],
  });
  await build({
    ...minified,
    platform: "neutral",
    mainFields: ["module", "main"],
    entryPoints: entries(WORKERD),
    outdir: "pkg/workerd",
    plugins: [host(["workerd", "web"], "../")],
  });
  await buildViewer(build, sharedCore("../web/slim.js"));
  await buildHtmlParts(build, host(["web"], "../"));
  licenses(bundled);
}

/** @param {Record<string, string>} files */
const entries = (files) => Object.fromEntries(Object.entries(files).map(([name, file]) => [name, join("js", file)]));

/**
 * Writes each file of pkg/ as a module, deflated and in base64, and the files' sizes, which tell a file of another
 * version.
 *
 * So each module is in the package twice: as bytes for Node, for workerd and for callers that give a URL, and as text
 * that every bundler follows. From the text alone Node would take twice as long to have the core's bytes, and seven
 * times for the other module's, at every start. The text is 4.0 of the 10.6 MB that are downloaded, and no loader can
 * make it from the file: where it is wanted, in a bundle, a compiled program or a page behind an import map, the file
 * isn't there.
 */
function texts() {
  const folder = join(pkg, "inline");
  mkdirSync(folder, { recursive: true });
  /** @type {Record<string, number>} */
  const sizes = {};
  for (const [name, file] of Object.entries(TEXTS)) {
    const bytes = readFileSync(join(pkg, file));
    sizes[file] = bytes.length;
    writeFileSync(
      join(folder, `${name}.js`),
      `export default ${JSON.stringify(deflateRawSync(bytes, { level: 9 }).toString("base64"))};\n`,
    );
    // Declared, since a compiler would infer the whole text as its type.
    writeFileSync(join(folder, `${name}.d.ts`), "declare const text: string;\nexport default text;\n");
  }
  writeFileSync(
    join(pkg, "sizes.js"),
    `/** @type {Record<string, number>} */\nexport const SIZES = ${JSON.stringify(sizes)};\n`,
  );
  writeFileSync(join(pkg, "sizes.d.ts"), "export declare const SIZES: Record<string, number>;\n");
}

async function forNode() {
  /** @type {BuildOptions} */
  const node = { ...SHARED_OPTIONS, platform: "node", plugins: [host([], "./")] };
  // A bundle in pkg/ finds leftoff.wasm beside it by its own path.
  const place = "const import_meta_url = require('node:url').pathToFileURL(__filename).href;";
  // One bundle of all, so that each entry has the same core and the same class of errors. `keepNames`: where the core's
  // binding has a class of the same name, esbuild would rename the public one.
  const all = Object.entries(ENTRIES)
    .map(([name, file]) => `export * as ${name} from "./js/${file}";`)
    .join("\n");
  await build({
    ...node,
    stdin: { contents: all, resolveDir: root },
    outfile: "pkg/all.cjs",
    format: "cjs",
    keepNames: true,
    define: { "import.meta.url": "import_meta_url" },
    banner: { js: place },
  });
  const file = join(pkg, "all.cjs");
  delete require.cache[file];
  const made = require(file);
  for (const name of Object.keys(ENTRIES)) {
    writeFileSync(join(pkg, `${name}.cjs`), `module.exports = require("./all.cjs").${name};\n`);
    writeFileSync(
      join(pkg, `${name}.mjs`),
      `import all from "./all.cjs";\nexport const { ${Object.keys(made[name]).sort().join(", ")} } = all.${name};\n`,
    );
  }
  // In parts, so that a command compiles what it runs. `mainFields`: jsonc-parser's CommonJS, which is for other
  // loaders, too, cannot be bundled.
  await build({
    ...node,
    plugins: [host([], "../")],
    entryPoints: { cli: "js/cli/entry.js" },
    outdir: "pkg",
    chunkNames: "cli/[name]-[hash]",
    format: "esm",
    splitting: true,
    minifyWhitespace: true,
    minifySyntax: true,
    mainFields: ["module", "main"],
  });
  const cli = join(pkg, "cli.js");
  const text = readFileSync(cli, "utf8");
  if (!text.startsWith("#!")) writeFileSync(cli, `#!/usr/bin/env node\n${text}`);
  chmodSync(cli, 0o755);
}

/** Makes the plugins that agents load, and what joins SDKs to a store: beside the bundle for Node, whose core they share. */
async function forAgents() {
  /** @type {BuildOptions} */
  const plugin = {
    ...SHARED_OPTIONS,
    platform: "node",
    outdir: "pkg",
    outExtension: { ".js": ".mjs" },
    format: "esm",
  };
  await build({
    ...plugin,
    entryPoints: { opencode: "js/opencode/index.js" },
    chunkNames: "opencode/[name]-[hash]",
    splitting: true,
    plugins: [sharedCore("../index.mjs")],
  });
  for (const name of ["claude", "openai"])
    await build({
      ...plugin,
      entryPoints: { [name]: `js/${name}/index.js` },
      plugins: [sharedCore("./index.mjs")],
    });
}

/** Makes the adapters for other libraries, each one file: the libraries themselves are the caller's. */
async function forLibraries() {
  await build({
    ...SHARED_OPTIONS,
    platform: "neutral",
    entryPoints: { ai: "js/ai/index.js", langchain: "js/langchain/index.js" },
    outdir: "pkg",
    outExtension: { ".js": ".mjs" },
    format: "esm",
    external: ["@langchain/core/*"],
    plugins: [sharedCore("leftoff")],
  });
  await build({
    ...SHARED_OPTIONS,
    platform: "neutral",
    mainFields: ["module", "main"],
    entryPoints: { html: "js/html/index.js" },
    outdir: "pkg",
    outExtension: { ".js": ".mjs" },
    format: "esm",
    plugins: [host(["web"], "./")],
  });
}

/** Leaves the core where it is, which a bundle shares. @param {string} path by which the bundle finds it @returns {Plugin} */
function sharedCore(path) {
  return {
    name: "shared-core",
    setup: ({ onResolve }) => onResolve({ filter: /^\.\.\/(index|error)\.js$/ }, () => ({ path, external: true })),
  };
}

/**
 * Replaces `x.node.js` by `x.web.js` where the host has one, and leaves the files of pkg/ where they are: they exist
 * once.
 * @param {string[]} kinds the host's own first @param {string} up from the bundle to pkg/
 * @returns {Plugin}
 */
export function host(kinds, up) {
  return {
    name: "host",
    setup(build) {
      build.onResolve({ filter: /pkg\/(inline\/\w+\.js|\w+\.wasm)$/ }, ({ path }) => ({
        path: path.replace(/^.*pkg\//, up),
        external: true,
      }));
      // What secretlint's rules use of Node: paths, and files of a kind that no text is.
      if (kinds.includes("web")) {
        build.onResolve({ filter: /^node:path$/ }, () =>
          build.resolve("pathe", { kind: "import-statement", resolveDir: root }),
        );
        build.onResolve({ filter: /^node:fs$/ }, ({ importer }) =>
          importer.includes("@secretlint") ? { path: "fs", namespace: "absent" } : undefined,
        );
        build.onLoad({ filter: /.*/, namespace: "absent" }, () => ({ contents: "export {};" }));
      }
      build.onResolve({ filter: /node\.js$/ }, ({ path, resolveDir }) => {
        for (const kind of kinds) {
          const own = join(resolveDir, path.replace(/node\.js$/, `${kind}.js`));
          if (existsSync(own)) return { path: own };
        }
        return undefined;
      });
    },
  };
}
