// @ts-check
// `npm run build:vscode`: makes the extension of VS Code, `target/vscode-extension/`, and packs it by `vsce` beside it,
// for the Marketplace, for Open VSX, and for `code --install-extension`.

import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { build as esbuild } from "esbuild";
import { host } from "./bundles.mjs";
import { fail, root, run, step } from "./run.mjs";
import { VIEWER_STYLES } from "./viewer.mjs";
import { installEditor, newerNode, vsce } from "../tests/vscode/install.mjs";

const folder = join(root, "target", "vscode-extension");
const dist = join(folder, "dist");
const source = join(root, "js", "vscode");
/** The most that is downloaded. */
const MAX_BYTES = 4_000_000;
/** The files of pkg/ that the bundles load. */
const ASSETS = ["leftoff.wasm", "agents.wasm", "o200k_base.planes"];

/** @type {import("esbuild").BuildOptions} */
const SHARED_OPTIONS = {
  bundle: true,
  minify: true,
  target: ["es2022"],
  legalComments: "external",
  logLevel: "warning",
  absWorkingDir: root,
  outdir: dist,
};
/** What both hosts load: one file, which finds the editor. @type {import("esbuild").BuildOptions} */
const EXTENSION = { ...SHARED_OPTIONS, format: "cjs", external: ["vscode"] };

/**
 * Brings along what else is looked for beside the program: packages that may be missing, and what an HTML file of a
 * session has in it, which is made of the extension's own files.
 * @type {import("esbuild").Plugin}
 */
const OWN_PARTS = {
  name: "own-parts",
  setup: ({ onLoad, onResolve }) => {
    onResolve({ filter: /assets\.node\.js$/ }, () => ({ path: join(source, "assets.js") }));
    onResolve({ filter: /packages\.node\.js$/ }, () => ({ path: join(root, "js", "host", "packages.web.js") }));
    onResolve({ filter: /pkg\/inline\/page\.js$/ }, () => ({ path: join(root, "pkg", "inline", "page.js") }));
    onResolve({ filter: /pkg\/inline\/\w+\.js$/ }, ({ path }) => ({ path, namespace: "inline" }));
    onLoad({ filter: /.*/, namespace: "inline" }, ({ path }) => {
      const file = ASSETS.find((name) => name.split(".")[0] === basename(path, ".js"));
      const contents = `import { deflateRawSync } from "node:zlib";
import { loadNow } from "./js/vscode/assets.js";
export default deflateRawSync(loadNow("${file}") ?? new Uint8Array(), { level: 9 }).toString("base64");`;
      return { contents, resolveDir: root };
    });
  },
};

/** Makes the extension's folder. @param {{ isWebOnly?: boolean }} what */
async function build({ isWebOnly = false }) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dist, { recursive: true });
  await esbuild({
    ...EXTENSION,
    platform: "node",
    entryPoints: { extension: "js/vscode/extension.js" },
    plugins: [OWN_PARTS, host([], "./")],
    // One file beside its WebAssembly, which it finds by its own folder.
    define: { "import.meta.url": "undefined" },
  });
  await esbuild({
    ...EXTENSION,
    platform: "browser",
    entryPoints: { web: "js/vscode/extension.js" },
    plugins: [host(["web"], "./")],
  });
  await esbuild({
    ...SHARED_OPTIONS,
    platform: "node",
    format: "esm",
    splitting: true,
    mainFields: ["module", "main"],
    entryPoints: { cli: "js/vscode/command-line.js" },
    chunkNames: "[name]-[hash]",
    outExtension: { ".js": ".mjs" },
    plugins: [OWN_PARTS, host([], "./")],
  });
  await esbuild({
    ...SHARED_OPTIONS,
    platform: "browser",
    format: "esm",
    entryPoints: { webview: "js/vscode/webview/page.js" },
    plugins: [host(["web"], "./")],
  });
  await esbuild({
    ...SHARED_OPTIONS,
    ...VIEWER_STYLES,
    entryPoints: { webview: "js/vscode/webview/page.css" },
  });
  for (const name of ASSETS) cpSync(compress(join(root, "pkg", name)), join(dist, `${name}.zst`));
  cpSync(join(source, "media"), join(folder, "media"), { recursive: true });
  for (const [from, to] of [
    ["js/vscode/README.md", "README.md"],
    ["LICENSE", "LICENSE"],
  ])
    cpSync(join(root, from), join(folder, to));
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest(isWebOnly), null, 2)}\n`);
}

/**
 * Compresses a file by zstd, once, by the Node that has it: a third less than what packages have.
 * @param {string} path
 * @returns {string} where it lies
 */
function compress(path) {
  const hash = createHash("sha256").update(readFileSync(path)).digest("hex");
  const packed = join(root, "target", "vscode-zst", `${hash}.zst`);
  if (existsSync(packed)) return packed;
  mkdirSync(dirname(packed), { recursive: true });
  const script = `
    const { constants, zstdCompressSync } = require("node:zlib");
    const { readFileSync, writeFileSync } = require("node:fs");
    const [from, to] = process.argv.slice(1);
    const params = { [constants.ZSTD_c_compressionLevel]: 19 };
    writeFileSync(to, zstdCompressSync(readFileSync(from), { params }));`;
  run(newerNode(), ["-e", script, path, `${packed}.part`], { quiet: true });
  renameSync(`${packed}.part`, packed);
  return packed;
}

/** What the extension says of itself: the version is leftoff's. */
function manifest(isWebOnly = false) {
  const { version, repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const own = JSON.parse(readFileSync(join(source, "manifest.json"), "utf8"));
  // Without these it runs in a browser's host, as it does where there is no other.
  if (isWebOnly) for (const key of ["main", "extensionKind"]) delete own[key];
  return { ...own, version, repository };
}

/**
 * Makes the extension's package.
 * @param {{ isWebOnly?: boolean }} [what] `isWebOnly`: for an editor that would else run it in the desktop's host
 * @returns {Promise<string>} its path
 */
export async function packExtension({ isWebOnly = false } = {}) {
  await step("the editor and its packer", installEditor);
  await step("the extension", () => build({ isWebOnly }));
  const packed = join(root, "target", isWebOnly ? "leftoff-web.vsix" : "leftoff.vsix");
  await step("its package", () => {
    const flags = ["--no-dependencies", "--skip-license"];
    // Without an address of its sources the pictures in README are those of the package.
    if (!manifest().repository) flags.push("--allow-missing-repository", "--no-rewrite-relative-links");
    run(newerNode(), [vsce(), "package", ...flags, "--out", packed], { cwd: folder, quiet: true });
  });
  const { size } = statSync(packed);
  console.log(`  ${packed}: ${size.toLocaleString("en")} bytes of ${MAX_BYTES.toLocaleString("en")}`);
  if (size > MAX_BYTES) fail("the extension is too large");
  return packed;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await packExtension();
