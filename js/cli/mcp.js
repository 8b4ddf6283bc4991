// @ts-check
/** `leftoff mcp`: serves the store to a client of the Model Context Protocol, on standard input and output. */

import { once } from "node:events";

import { serveStdio } from "@modelcontextprotocol/server/stdio";

import { StoreOpener } from "../agents/settings-watch.js";
import { createServer } from "../mcp/server.js";
import { note } from "./print.js";

/** @param {Record<string, any>} args */
export async function mcp(args) {
  const opener = new StoreOpener({ home: args.home, project: args.workspace ?? process.cwd(), redact: args.redact });
  // What cannot be opened is refused at once.
  await opener.open();
  try {
    const served = serveStdio(() => createServer(() => opener.open()), { onerror: (error) => note(error.message) });
    // A file and /dev/null end, and are not closed.
    await Promise.race([once(process.stdin, "end"), once(process.stdin, "close")]);
    await served.close();
  } finally {
    await opener.close();
  }
  return { text: "", value: undefined };
}
