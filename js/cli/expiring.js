// @ts-check
/** `leftoff doctor --agents`: agents' sessions that their own client soon deletes, and of which the store lacks something. */

import { listAgentFiles } from "../agents/files.js";
import { expiryOf, retentionDays } from "../agents/retention.js";
import { transcriptLocations } from "../agents/transcript-locations.js";
import { LeftoffError, NodeStorage, readTranscript } from "../index.js";
import { nowMs } from "../wasm/clock.js";
import { formatCount } from "./print.js";
import { withStore } from "./store.js";

/** @typedef {import("../store/store.js").Store} Store */
/** @typedef {import("../session/transcript.js").Transcript} Transcript */
/**
 * A session that is soon deleted. `newMessages`: those that the store lacks; `expires`: when its client may delete it,
 * RFC 3339; `days`: how long that keeps it after its last change.
 * @typedef {{ agent: string, id: string, title: string, messageCount: number, newMessages: number }} MissingSession
 * @typedef {MissingSession & { path: string, expires: string, days: number }} ExpiringSession
 */

/** How long before it is deleted a session is told. */
const WARNING_MS = 14 * 86_400_000;
const MAX_TITLE_CHARS = 80;

/** @param {Record<string, any>} args */
export async function listExpiring(args) {
  for (const other of ["fix", "secrets", "session"])
    if (args[other] || (other === "session" && args._.length > 0))
      throw new LeftoffError({
        code: "usage",
        message: `--agents looks at agents' files: leave out ${other === "session" ? "SESSION" : `--${other}`}`,
      });
  const value = await withStore(args, findExpiring);
  return { text: renderExpiring(value), value, failed: value.length > 0 };
}

/** @param {Store} store @returns {Promise<ExpiringSession[]>} those that are deleted first at first */
async function findExpiring(store) {
  const storage = new NodeStorage();
  const found = [];
  try {
    for (const place of await transcriptLocations(store)) {
      const days = await retentionDays(place, store);
      if (days === undefined) continue;
      for await (const { path, mtimeMs } of listAgentFiles(storage, place.path, place.is)) {
        const expiryMs = expiryOf(mtimeMs, days);
        if (expiryMs - nowMs() > WARNING_MS) continue;
        const missing = await findMissing(store, path);
        if (missing) found.push({ ...missing, path, expires: new Date(expiryMs).toISOString(), days });
      }
    }
  } finally {
    await storage.close();
  }
  return found.sort((one, other) => (one.expires < other.expires ? -1 : 1));
}

/**
 * What the store lacks of a session's file; nothing where it lacks nothing, or the file is no session.
 * @param {Store} store @param {string} path
 */
async function findMissing(store, path) {
  const transcript = await readTranscript(path).catch(ignoreRefusal);
  if (!transcript) return undefined;
  const { agent, sourceId: id } = transcript.session;
  const { ids, newest } = await readStored(store, { agent, id });
  // What came before the newest that is stored was left out by the import: commands, and what has no text.
  const isNew = (/** @type {import("../types/index.js").ReadMessage} */ message) =>
    !ids.has(message.id) && (message.timestamp ?? "") >= newest;
  const newMessages = transcript.slice().filter(isNew).length;
  if (newMessages === 0) return undefined;
  return { agent, id, title: await titleOf(store, transcript), messageCount: transcript.length, newMessages };
}

/**
 * A session's title, or how it begins; without the secrets that are to be replaced.
 * @param {Store} store @param {Transcript} transcript
 */
async function titleOf(store, transcript) {
  const first = transcript.slice().find(({ role }) => role === "user")?.content;
  const { value } = await store.redacted(transcript.session.title ?? first ?? "");
  return value.trim().replaceAll(/\s+/g, " ").slice(0, MAX_TITLE_CHARS);
}

/** @param {Store} store @param {{ agent: string, id: string }} source */
async function readStored(store, source) {
  const ids = new Set();
  let newest = "";
  const session = await store.session({ source }).catch(ignoreRefusal);
  if (!session) return { ids, newest };
  for await (const { id, timestamp = "" } of session.messages({ allBranches: true })) {
    ids.add(id);
    if (timestamp > newest) newest = timestamp;
  }
  await session.close();
  return { ids, newest };
}

/** @param {unknown} error */
function ignoreRefusal(error) {
  if (error instanceof LeftoffError && error.code !== "internal") return undefined;
  throw error;
}

/** @param {ExpiringSession[]} sessions */
function renderExpiring(sessions) {
  const [first] = sessions;
  if (!first) return "no session that its agent soon deletes is missing here\n";
  const lines = sessions.map(({ agent, title, path, messageCount, newMessages, expires }) => {
    const count =
      newMessages === messageCount
        ? formatCount(messageCount, "message")
        : `${newMessages} of ${formatCount(messageCount, "message")}`;
    return `  ${expires.slice(0, 10)}  ${agent}  ${JSON.stringify(title)}, ${count}\n              ${path}\n`;
  });
  return `not imported, and deleted by the agent's own client from this day on:\n${lines.join("")}'leftoff import --all' imports them\n`;
}
