// @ts-check
// Makes the transcript viewer's page, `pkg/viewer/`: one script, one stylesheet and the document. The script loads
// leftoff's own entry for pages, `pkg/web/slim.js`, so that the modules are in the package once.

import { cpSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run.mjs";

/** The page's folder in pkg/. */
export const VIEWER = "pkg/viewer";

/**
 * Makes the page.
 * @param {(options: import("esbuild").BuildOptions) => Promise<void>} build
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
  });
  cpSync(join(root, "js", "viewer", "index.html"), join(root, VIEWER, "index.html"));
}
