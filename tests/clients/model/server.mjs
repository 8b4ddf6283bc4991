// @ts-check
/**
 * The fake model server: on the loopback, at a port of the system's choice. It answers by a script and knows no client;
 * each API that it speaks is a file of its own. A request that none of them answers gets 404, and is told.
 */

import { createServer } from "node:http";
import { anthropic } from "./anthropic.mjs";
import { gemini } from "./gemini.mjs";
import { openaiChat } from "./openai-chat.mjs";
import { openaiResponses } from "./openai-responses.mjs";

/** @import { AddressInfo } from "node:net" */
/** @import { Turn } from "./turns.mjs" */
/** @import { Answer, Script } from "./script.mjs" */

/**
 * @typedef {object} Writing
 * @property {(value: object) => void} json the answer whole
 * @property {(events: string[]) => void} stream the answer in pieces, each as it is sent
 *
 * @typedef {object} Api
 * @property {(method: string, path: string) => boolean} answers
 * @property {(path: string, body: any) => boolean} isMain whether it is the conversation itself; not a title, a summary
 *   or a count
 * @property {(body: any) => Turn[]} turns the conversation, without system prompts and the client's own reminders
 * @property {(path: string, body: any, answer: Answer, writing: Writing) => void} write
 *
 * @typedef {{ method: string, path: string, body: any, isMain: boolean, turns: Turn[] }} Request
 */

const APIS = [anthropic, openaiChat, openaiResponses, gemini];

/**
 * @param {Script} script
 * @param {{ seen?: (request: Request) => void }} [options]
 * @returns {Promise<{ url: string, unknown: string[], close: () => Promise<void> }>}
 */
export async function serve(script, { seen = () => {} } = {}) {
  /** @type {string[]} */
  const unknown = [];
  const server = createServer(async (request, response) => {
    const { method = "", url = "" } = request;
    const path = url.split("?", 1)[0] ?? "";
    const text = await readBody(request);
    const api = APIS.find((one) => one.answers(method, path));
    if (!api) {
      // Asking whether there is somebody is not asking for anything.
      if (method !== "HEAD") unknown.push(`${method} ${path}`);
      response.writeHead(method === "HEAD" ? 200 : 404, { "content-type": "application/json" }).end("{}");
      return;
    }
    const body = JSON.parse(text);
    const asked = { isMain: api.isMain(path, body), turns: api.turns(body) };
    seen({ method, path, body, ...asked });
    api.write(path, body, script.answer(asked), {
      json: (value) => void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value)),
      stream(events) {
        response.writeHead(200, { "content-type": "text/event-stream" });
        for (const event of events) response.write(event);
        response.end();
      },
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    unknown,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** @param {import("node:http").IncomingMessage} request */
async function readBody(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}
