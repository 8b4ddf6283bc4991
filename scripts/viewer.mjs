// @ts-check
// Makes the transcript viewer's page, `pkg/viewer/`: one script, one stylesheet and the document. The script loads
// leftoff's own entry for pages, `pkg/web/slim.js`, so that the modules are in the package once. And makes what is the
// same in each HTML file of a session, `pkg/inline/page.js`: a script that has all of that in it, a stylesheet, and the
// policy that allows these two and nothing else.

import { createHash } from "node:crypto";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { root } from "./run.mjs";

/** The page's folder in pkg/. */
export const VIEWER = "pkg/viewer";

/** @typedef {(options: import("esbuild").BuildOptions) => Promise<import("esbuild").OutputFile[]>} Build */

/** The part of the stylesheet that is for pages which are the viewer's alone. */
const PAGE_STYLES = "page.css";

/**
 * Nests each part of the viewer's stylesheet, so that it touches nothing else of a page that shows a viewer.
 * @param {string} scope the elements, as a selector
 * @returns {import("esbuild").Plugin}
 */
const nestStyles = (scope) => ({
  name: "nest-styles",
  setup(build) {
    build.onLoad({ filter: /[\\/]viewer[\\/]styles[\\/][\w-]+\.css$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      const isWhole = basename(path) === PAGE_STYLES || text.includes("@import");
      return { contents: isWhole ? text : `${scope} {\n${text}\n}\n`, loader: "css" };
    });
  },
});

/** How a stylesheet that imports the viewer's is bundled. @satisfies {import("esbuild").BuildOptions} */
export const VIEWER_STYLES = {
  supported: { nesting: false },
  plugins: [nestStyles("leftoff-viewer, leftoff-start")],
};

/**
 * Makes the page.
 * @param {Build} build
 * @param {import("esbuild").Plugin} core leaves leftoff's own code where it is, beside the page
 */
export async function buildViewer(build, core) {
  await build({
    bundle: true,
    target: ["es2022"],
    legalComments: "inline",
    logLevel: "warning",
    absWorkingDir: root,
    platform: "browser",
    format: "esm",
    minify: true,
    entryPoints: { viewer: "js/viewer/page.js", index: "js/viewer/index.js" },
    splitting: true,
    outdir: VIEWER,
    plugins: [core],
  });
  await build({
    bundle: true,
    logLevel: "warning",
    absWorkingDir: root,
    minify: true,
    entryPoints: { viewer: "js/viewer/styles/viewer.css" },
    outdir: VIEWER,
    ...VIEWER_STYLES,
  });
  cpSync(join(root, "js", "viewer", "index.html"), join(root, VIEWER, "index.html"));
}

/**
 * Makes the parts of HTML files.
 * @param {Build} build
 * @param {import("esbuild").Plugin} host replaces what pages do not have
 */
export async function buildHtmlParts(build, host) {
  const options = /** @type {const} */ ({
    bundle: true,
    write: false,
    minify: true,
    legalComments: "inline",
    logLevel: "warning",
    absWorkingDir: root,
    platform: "browser",
    outdir: "pkg",
  });
  const [made] = await build({
    ...options,
    target: ["es2022"],
    format: "iife",
    entryPoints: ["js/viewer/carried.js"],
    // A file's session was redacted when it was written.
    external: ["@secretlint/*"],
    plugins: [host],
  });
  const [{ text: style }] = await build({
    ...options,
    entryPoints: ["js/html/page.css"],
    ...VIEWER_STYLES,
    plugins: [nestStyles("body, leftoff-viewer")],
  });
  // In strings and patterns alone, where it means the same: a comment that begins in it would hide its end.
  const script = made.text.replace(/<(?=!--|\/?script)/gi, "\\x3c");
  const hash = (/** @type {string} */ text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  const policy = [
    "default-src 'none'",
    `script-src ${hash(script)} 'wasm-unsafe-eval'`,
    `style-src ${hash(style)}`,
    "img-src data: blob:",
    "connect-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types lit-html dompurify",
  ].join("; ");
  const folder = join(root, "pkg", "inline");
  writeFileSync(join(folder, "page.js"), `export default ${JSON.stringify({ script, style, policy })};\n`);
  writeFileSync(
    join(folder, "page.d.ts"),
    "declare const parts: { script: string, style: string, policy: string };\nexport default parts;\n",
  );
}
