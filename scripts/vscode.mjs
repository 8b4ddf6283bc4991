// @ts-check
// `npm run build:vscode`: makes the extension of VS Code, `target/vscode-extension/`, and packs it by `vsce` beside it,
// for the Marketplace, for Open VSX, and for `code --install-extension`.

import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { build as esbuild } from "esbuild";
import { host } from "./bundles.mjs";
import { fail, root, run, step } from "./run.mjs";
import { VIEWER_STYLES } from "./viewer.mjs";
import { installEditor, newerNode, vsce } from "../tests/vscode/install.mjs";

const folder = join(root, "target", "vscode-extension");
const source = join(root, "js", "vscode");
/** The most that is downloaded. */
const MAX_BYTES = 4_600_000;
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
};

/** Brings secretlint's rules along: beside an extension no package can be looked for. @type {import("esbuild").Plugin} */
const SECRET_RULES = {
  name: "secret-rules",
  setup: ({ onResolve }) =>
    onResolve({ filter: /secret-rules\.node\.js$/ }, () => ({ path: join(root, "js", "host", "secret-rules.web.js") })),
};

/** Makes the extension's folder. */
async function build() {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "dist"), { recursive: true });
  await esbuild({
    ...SHARED_OPTIONS,
    format: "cjs",
    external: ["vscode"],
    platform: "node",
    entryPoints: { extension: "js/vscode/extension.js" },
    outdir: join(folder, "dist"),
    plugins: [SECRET_RULES, host([], "./")],
    // One file beside its WebAssembly, which it finds by its own folder.
    define: { "import.meta.url": "undefined" },
  });
  await esbuild({
    ...SHARED_OPTIONS,
    platform: "node",
    format: "esm",
    splitting: true,
    mainFields: ["module", "main"],
    entryPoints: { cli: "js/vscode/command-line.js" },
    outdir: join(folder, "dist"),
    chunkNames: "[name]-[hash]",
    outExtension: { ".js": ".mjs" },
    plugins: [SECRET_RULES, host([], "./")],
  });
  await esbuild({
    ...SHARED_OPTIONS,
    platform: "browser",
    format: "esm",
    entryPoints: { webview: "js/vscode/webview/page.js" },
    outdir: join(folder, "dist"),
    plugins: [host(["web"], "./")],
  });
  await esbuild({
    ...SHARED_OPTIONS,
    ...VIEWER_STYLES,
    entryPoints: { webview: "js/vscode/webview/page.css" },
    outdir: join(folder, "dist"),
  });
  for (const name of ASSETS) cpSync(join(root, "pkg", name), join(folder, "dist", name));
  cpSync(join(source, "media"), join(folder, "media"), { recursive: true });
  for (const [from, to] of [
    ["js/vscode/README.md", "README.md"],
    ["LICENSE", "LICENSE"],
  ])
    cpSync(join(root, from), join(folder, to));
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
}

/** What the extension says of itself: the version is leftoff's. */
function manifest() {
  const { version, repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return { ...JSON.parse(readFileSync(join(source, "manifest.json"), "utf8")), version, repository };
}

/** Makes the extension's package, and answers its path. */
export async function packExtension() {
  await step("the editor and its packer", installEditor);
  await step("the extension", build);
  const packed = join(root, "target", "leftoff.vsix");
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
