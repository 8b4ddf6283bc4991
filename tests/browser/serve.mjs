// @ts-check
// A page and what it asks for, on loopback: the unpacked package below /package/, these tests below /tests/.

import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";

const TYPES = {
  ".css": "text/css",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".html": "text/html",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

/** What a page has to say to run WebAssembly at all, and no more. */
export const STRICT = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'";

/**
 * Serves folders by the first part of the address, and texts by the whole of it.
 * @param {Record<string, string>} folders @param {Record<string, string>} texts
 * @returns {Promise<{ origin: string, sizes: Map<string, number>, close: () => void }>} `sizes`: what was asked for, in
 *   bytes
 */
export async function serve(folders, texts) {
  const sizes = new Map();
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(String(request.url), "http://127.0.0.1");
    const [, first = "", ...rest] = pathname.split("/");
    const folder = folders[first];
    const body =
      texts[pathname] ??
      (folder ? await readFile(join(folder, normalize(`/${rest.join("/")}`))).catch(() => undefined) : undefined);
    if (body === undefined) return void response.writeHead(404).end();
    sizes.set(pathname, Buffer.byteLength(body));
    const policy = searchParams.has("strict") ? { "content-security-policy": STRICT } : {};
    response.writeHead(200, {
      "content-type": TYPES[/** @type {".js"} */ (extname(pathname))] ?? "application/octet-stream",
      ...policy,
    });
    response.end(body);
  });
  await new Promise((go) => server.listen(0, "127.0.0.1", () => go(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { origin: `http://127.0.0.1:${port}`, sizes, close: () => void server.close() };
}
