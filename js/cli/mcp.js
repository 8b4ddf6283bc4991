// @ts-check
/** `leftoff mcp`: serves the store to a client of the Model Context Protocol, on standard input and output. */

import { once } from "node:events";

import { serveStdio } from "@modelcontextprotocol/server/stdio";

import { openStore } from "../index.js";
import { createServer } from "../mcp/server.js";
import { note } from "./print.js";

/** @param {Record<string, any>} args */
export async function mcp(args) {
  const store = await openStore({ home: args.home, project: args.workspace, redact: args.redact });
  try {
    const served = serveStdio(() => createServer(store), { onerror: (error) => note(error.message) });
    // A file and /dev/null end, and are not closed.
    await Promise.race([once(process.stdin, "end"), once(process.stdin, "close")]);
    await served.close();
  } finally {
    await store.close();
  }
  return { text: "", value: undefined };
}
