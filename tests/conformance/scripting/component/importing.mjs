// @ts-check
/** Other agents' sessions: which files there are the host says, and what is in them. */

import { resolve } from "node:path";

import { collectAgentFiles, documents, listNamedFiles } from "../../../../js/agents/files.js";
import { transcriptLocations } from "../../../../js/agents/transcript-locations.js";
import { NodeStorage } from "../../../../js/index.js";
import { bytesOf, contentOf } from "../../../component/host.mjs";
import { json } from "./answers.mjs";

/** @import { ScriptedHost } from "./host.mjs" */

const storage = new NodeStorage();

/** How a host answers what imports need, one after another. @returns {Record<string, (asked: any) => any>} */
export function reading() {
  /** @type {AsyncGenerator<import("../../../../js/agents/files.js").Document> | undefined} */
  let all;
  return {
    document: async ({ path, only, isFirst }) => {
      if (isFirst) all = documents(storage, path, JSON.parse(only) ?? undefined);
      const { value } = (await all?.next()) ?? {};
      if (!value) return { tag: "document" };
      const { bytes, isAlone, error } = value;
      const failure = error && { code: error.code, message: error.message, unconfirmed: false };
      return { tag: "document", val: { pieces: [contentOf(bytes)], isAlone, failure } };
    },
    normal: (path) => ({ tag: "text", val: path.normalize("NFC") }),
  };
}

/** @param {ScriptedHost} host @param {any} asked */
export async function importPath(host, { path, onProgress, ...asked }) {
  const whole = resolve(path);
  const stat = await storage.stat(whole);
  if (stat?.kind === "folder") return importedOf(host, [{ path: whole, is: () => true }], { onProgress, ...asked });
  return progressing(host, onProgress, (tells) =>
    host.store.importFile(JSON.stringify({ path: whole, ...asked, size: stat?.size, tells })),
  );
}

/** @param {ScriptedHost} host @param {any} asked */
export async function importedAll(host, asked) {
  return importedOf(host, await transcriptLocations({ project: host.project }), asked);
}

/**
 * @param {ScriptedHost} host
 * @param {import("../../../../js/agents/transcript-locations.js").TranscriptLocation[]} kept
 * @param {any} asked
 */
async function importedOf(host, kept, { from, onProgress }) {
  const files = await collectAgentFiles(storage, kept);
  return progressing(host, onProgress, (tells) => host.store.importFiles(JSON.stringify({ files, from, tells })));
}

/** @param {ScriptedHost} host @param {any} asked */
export async function listedImportable(host, { path, onProgress, ...asked }) {
  const named = path === undefined ? undefined : await listNamedFiles(storage, path);
  const places = await transcriptLocations({ project: host.project });
  const files = named ?? { files: await collectAgentFiles(storage, places) };
  return progressing(host, onProgress, (tells) =>
    host.store.listImportable(JSON.stringify({ ...files, ...asked, tells })),
  );
}

/**
 * With the first that is told of each file or session, where that is asked for.
 * @param {ScriptedHost} host
 * @param {boolean} tells
 * @param {(tells: boolean) => any} work
 */
export async function progressing(host, tells = false, work) {
  /** @type {Map<string, object>} */
  const first = new Map();
  const page = (/** @type {any} */ content) => {
    const told = JSON.parse(Buffer.from(bytesOf(content)).toString());
    if (!first.has(told.path)) first.set(told.path, told);
  };
  const answer = await json(host.run(work(tells), { ...reading(), page }));
  const named = Array.isArray(answer) ? { reports: answer } : answer;
  return tells ? { ...named, progress: [...first.values()] } : answer;
}

/** The session that a conversation is; nothing where it is none. @param {ScriptedHost} host @param {any} asked */
export async function recordConversation(host, { agent: from, path, only, command }) {
  const asked = { path: resolve(path), from, only, hasCommand: command !== undefined };
  const own = { ...reading(), command: () => ({ tag: "text", val: JSON.stringify(command) }) };
  const found = await host.run(host.store.record(JSON.stringify(asked)), own);
  return found === "null" ? undefined : found;
}
