// @ts-check
/** A store in a folder of its own, and the protocol's own client at `leftoff mcp` there. */

import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { openStore } from "../../js/index.js";

/** @import { Store } from "../../js/store/store.js" */
/** @typedef {{ home: string, project: string, store: Store }} Place */

const CLI = fileURLToPath(new URL("../../js/cli/index.js", import.meta.url));
export const MAX_ANSWER_BYTES = 4096;

/** @param {(place: Place) => Promise<void>} work */
export async function inProject(work) {
  const project = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-mcp-")));
  const home = join(project, "home");
  const store = await openStore({ home, project });
  try {
    await work({ home, project, store });
  } finally {
    await store.close();
    rmSync(project, { recursive: true, force: true });
  }
}

/** What starts the server. @param {Pick<Place, "home" | "project">} place */
export const started = ({ home, project }) => ({
  command: process.execPath,
  args: [CLI, "mcp", "--home", home],
  cwd: project,
  env: { PATH: process.env.PATH ?? "", HOME: project },
});

/** @param {Pick<Place, "home" | "project">} place @param {(client: Client) => Promise<void>} work */
export async function withClient(place, work) {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport(started(place)));
  try {
    await work(client);
  } finally {
    await client.close();
  }
}

/** What a tool answers. @param {Client} client @param {string} name @param {Record<string, unknown>} [asked] */
export async function call(client, name, asked = {}) {
  const { content, isError = false } = /** @type {any} */ (await client.callTool({ name, arguments: asked }));
  assert.equal(content.length, 1);
  const { text } = content[0];
  assert.ok(Buffer.byteLength(text) <= MAX_ANSWER_BYTES, `${name}: ${Buffer.byteLength(text)} bytes`);
  return { text: /** @type {string} */ (text), isError };
}

/** A paused session. @param {Store} store @param {string} title @param {string[]} texts */
export async function say(store, title, texts) {
  const session = await store.create({ title });
  for (const [place, content] of texts.entries())
    await session.append(
      place % 2 === 0 ? { role: "user", content } : { role: "assistant", content, assistant: { model: "gpt-5" } },
    );
  await session.stop();
  return session;
}
