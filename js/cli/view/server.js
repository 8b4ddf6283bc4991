// @ts-check
/**
 * Serves the viewer's page, and the store to it, to one browser on this machine.
 *
 * Other pages in that browser, and other users of the machine, can reach the port too. So each address has a secret
 * word, the request must name this very host (a name that is made to lead here is refused), and must not come from
 * another page. Nothing that is asked writes.
 */

import { timingSafeEqual } from "node:crypto";
import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { LeftoffError } from "../../error.js";
import { NodeStorage } from "../../storage/node.js";
import { storageError } from "../../storage/contract.js";
import { entropy } from "../../wasm/clock.js";

/** @import { IncomingMessage, ServerResponse } from "node:http" */
/** @typedef {{ folder: string, storage: NodeStorage }} Root what the page reads in one of its folders */
/** @typedef {{ home: string, workspaces?: string[], session?: string, search?: string }} ViewedPlace `workspaces`: the
 *   folders of those that have sessions, the page's own first; `session`: an id; `search`: the words whose sessions to list */

/** The folder of the page and of what it loads: seen from the bundle, or from this file. */
const PACKAGE =
  ["../", "../../../pkg/"]
    .map((up) => fileURLToPath(new URL(up, import.meta.url)))
    .find((folder) => existsSync(join(folder, "viewer", "index.html"))) ?? "";
/** What the page loads. */
const SERVED_PATHS = /^(viewer\/[\w.-]+|web\/[\w.-]+\.js|[\w-]+\.(wasm|planes))$/;
/** @type {Record<string, string>} */
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".wasm": "application/wasm",
  ".svg": "image/svg+xml",
};
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types lit-html dompurify",
].join("; ");
const HEADERS = {
  "Content-Security-Policy": POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
};

/** The folder by which the page knows the home, wherever it lies. Workspaces have their own paths: the home names them. */
export const HOME = "/leftoff";

/** A server for one page. */
export class ViewServer {
  #server = createServer((request, response) => void this.#answer(request, response));
  #word = Buffer.from(entropy()).toString("base64url");
  #opened;
  /** @type {Map<string, Root>} */
  #roots = new Map();
  #host = "";

  /** @param {ViewedPlace} opened */
  constructor(opened) {
    this.#opened = opened;
    this.#addRoot(HOME, opened.home);
    for (const folder of opened.workspaces ?? []) {
      const conversations = join(folder, "conversations");
      this.#addRoot(conversations, conversations);
    }
  }

  /** Starts, on a port that is free. @returns {Promise<URL>} the page's address */
  async start() {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const { port } = /** @type {import("node:net").AddressInfo} */ (this.#server.address());
    this.#host = `127.0.0.1:${port}`;
    return new URL(`http://${this.#host}/${this.#word}/viewer/index.html?served`);
  }

  /** Stops, whatever is under way. */
  async close() {
    this.#server.close();
    this.#server.closeAllConnections();
    for (const { storage } of this.#roots.values()) await storage.close();
  }

  /** @param {string} place @param {string} folder */
  #addRoot(place, folder) {
    this.#roots.set(place, { folder, storage: new NodeStorage({ root: folder }) });
  }

  /** @param {IncomingMessage} request @param {ServerResponse} response */
  async #answer(request, response) {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    try {
      const url = new URL(request.url ?? "", `http://${this.#host}`);
      const [, word = "", ...names] = url.pathname.split("/");
      if (!this.#isAllowed(request, word)) return refuse(response, 403);
      if (request.method !== "GET") return refuse(response, 405);
      const path = names.join("/");
      if (path === "opened.json") this.#answerOpened(response);
      else if (path === "storage") await this.#answerStorage(url.searchParams, response);
      else if (SERVED_PATHS.test(path)) sendFile(response, path);
      else refuse(response, 404);
    } catch (error) {
      if (error instanceof LeftoffError) sendJson(response, 422, { code: error.code, message: error.message });
      // An address, or a list of names, that is none.
      else if (error instanceof TypeError || error instanceof SyntaxError) refuse(response, 400);
      else throw error;
    }
  }

  /** @param {IncomingMessage} request @param {string} word */
  #isAllowed({ headers }, word) {
    const [given, known] = [Buffer.from(word), Buffer.from(this.#word)];
    const isFromPage = ["same-origin", "none", undefined].includes(String(headers["sec-fetch-site"] ?? "none"));
    const isKnown = given.length === known.length && timingSafeEqual(given, known);
    return headers.host === this.#host && isKnown && isFromPage;
  }

  /** @param {ServerResponse} response */
  #answerOpened(response) {
    const { workspaces: [workspace] = [], session, search } = this.#opened;
    sendJson(response, 200, { home: HOME, workspace, session, search });
  }

  /** @param {URLSearchParams} asked @param {ServerResponse} response */
  async #answerStorage(asked, response) {
    const verb = asked.get("verb");
    const path = asked.get("path") ?? "";
    const { storage, at } = this.#find(path);
    const files = JSON.parse(asked.get("files") ?? "null") ?? undefined;
    if (verb === "stat") return sendJson(response, 200, await storage.stat(at));
    if (verb === "list") return sendJson(response, 200, await storage.list(at, files ? { files } : {}));
    if (verb === "read") return sendBytes(response, await storage.read(at));
    if (verb !== "readRange") return refuse(response, 404);
    const [start, end] = [Number(asked.get("start")), Number(asked.get("end"))];
    return sendBytes(response, await storage.readRange(at, start, end));
  }

  /** Where a path of the page lies on this machine. @param {string} path */
  #find(path) {
    for (const [place, { folder, storage }] of this.#roots)
      if (path === place || path.startsWith(`${place}/`))
        return { storage, at: join(folder, path.slice(place.length)) };
    throw storageError("read", path, { code: "outside_store" });
  }
}

/** @param {ServerResponse} response @param {number} status */
function refuse(response, status) {
  response.writeHead(status).end();
}

/** @param {ServerResponse} response @param {number} status @param {unknown} value */
function sendJson(response, status, value) {
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(value));
}

/** @param {ServerResponse} response @param {Uint8Array | null} bytes */
function sendBytes(response, bytes) {
  if (bytes === null) response.writeHead(204).end();
  else response.writeHead(200, { "Content-Type": "application/octet-stream" }).end(bytes);
}

/** @param {ServerResponse} response @param {string} path in the package */
function sendFile(response, path) {
  const file = join(PACKAGE, path);
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found?.isFile()) return refuse(response, 404);
  const type = TYPES[extname(path)] ?? "application/octet-stream";
  response.writeHead(200, { "Content-Type": type, "Content-Length": found.size });
  createReadStream(file).pipe(response);
}
