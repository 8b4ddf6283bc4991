// @ts-check
// Bundlers as their users call them: nothing is set but where the bundle goes, and whether it is for Node or for a
// page.

import { join } from "node:path";
import { build as esbuild } from "esbuild";
import { tool } from "./tools.mjs";

/**
 * @typedef {{ folder: string, entry: string, out: string, forNode: boolean }} BundleRequest `entry`: as `./name.mjs` in
 *   the folder; the bundle is `index.mjs` in `out`
 */

/** @param {"vite7" | "vite8"} name @returns {(asked: BundleRequest) => Promise<unknown>} */
const vite =
  (name) =>
  async ({ folder, entry, out, forNode }) => {
    const { build } = await tool(name);
    const output = { entryFileNames: "index.mjs" };
    await build({
      root: folder,
      configFile: false,
      logLevel: "error",
      ...(forNode && { ssr: { noExternal: true } }),
      build: { outDir: out, emptyOutDir: true, ssr: forNode, rollupOptions: { input: join(folder, entry), output } },
    });
  };

/** By their names. @type {Record<string, (asked: BundleRequest) => Promise<unknown>>} */
export const BUNDLERS = {
  esbuild: ({ folder, entry, out, forNode }) =>
    esbuild({
      absWorkingDir: folder,
      entryPoints: { index: entry },
      outdir: out,
      bundle: true,
      splitting: true,
      format: "esm",
      platform: forNode ? "node" : "browser",
      outExtension: { ".js": ".mjs" },
      logLevel: "error",
    }),
  Rollup: async ({ folder, entry, out, forNode }) => {
    const [{ rollup }, { nodeResolve }] = await Promise.all([tool("rollup"), tool("@rollup/plugin-node-resolve")]);
    const bundle = await rollup({
      input: join(folder, entry),
      plugins: [nodeResolve({ browser: !forNode, ...(forNode && { exportConditions: ["node"] }) })],
      onwarn: () => {},
    });
    await bundle.write({ dir: out, format: "es", entryFileNames: "index.mjs" });
    await bundle.close();
  },
  webpack: async ({ folder, entry, out, forNode }) => {
    const { default: webpack } = await tool("webpack");
    const stats = await new Promise((done, failed) =>
      webpack(
        {
          context: folder,
          entry,
          mode: "production",
          target: forNode ? "node" : "web",
          performance: false,
          experiments: { outputModule: true },
          output: { path: out, filename: "index.mjs", module: true, chunkFormat: "module" },
        },
        (/** @type {unknown} */ error, /** @type {unknown} */ made) => (error ? failed(error) : done(made)),
      ),
    );
    if (stats.hasErrors() || stats.hasWarnings())
      throw new Error(stats.toString({ all: false, errors: true, warnings: true }));
  },
  "Vite 7": vite("vite7"),
  "Vite 8": vite("vite8"),
};
