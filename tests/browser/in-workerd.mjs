// @ts-check
// workerd, with a worker that esbuild has bundled by the conditions of such a platform.

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
// @ts-expect-error it says nothing of its types: the path of its program
import workerd from "workerd";

const CONFIG = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (compatibilityDate = "2026-01-01", modules = [
    (name = "workerd.js", esModule = embed "workerd.js"),
    (name = "leftoff.wasm", wasm = embed "leftoff.wasm"),
    (name = "agents.wasm", wasm = embed "agents.wasm"),
  ]))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`;

/**
 * What the worker answers; throws unless that is that it works.
 * @param {{ folder: string, entry: string, given: object }} where `folder`: an empty one; `entry`: the worker, which
 *   finds the package
 */
export async function inWorkerd({ folder, entry, given }) {
  await build({
    entryPoints: [entry],
    outdir: folder,
    bundle: true,
    format: "esm",
    platform: "neutral",
    conditions: ["workerd", "worker", "browser"],
    loader: { ".wasm": "copy" },
    assetNames: "[name]",
    logLevel: "error",
  });
  writeFileSync(join(folder, "config.capnp"), CONFIG);
  const child = spawn(workerd.default, ["serve", join(folder, "config.capnp"), "--control-fd=3"], {
    stdio: ["ignore", "inherit", "inherit", "pipe"],
  });
  try {
    const port = await new Promise((listens, fails) => {
      child.on("error", fails).on("exit", (code) => fails(new Error(`workerd ended with ${code}`)));
      createInterface(/** @type {import("node:stream").Readable} */ (child.stdio[3])).on(
        "line",
        (line) => void (JSON.parse(line).event === "listen" && listens(JSON.parse(line).port)),
      );
    });
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: JSON.stringify(given) });
    const said = await answer.text();
    if (said !== "works") throw new Error(said);
  } finally {
    child.kill();
  }
}
