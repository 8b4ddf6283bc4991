// @ts-check
/**
 * Agents' sessions of which the store lacks something: those that an import would take in, `leftoff import --dry-run`;
 * and those that their own client soon deletes, `leftoff doctor --agents`.
 */

import { resolve } from "node:path";

import { agents } from "../wasm/agents.js";
import { listAgentFiles } from "../agents/files.js";
import { expiryOf, retentionDays } from "../agents/retention.js";
import { transcriptLocations } from "../agents/transcript-locations.js";
import { LeftoffError, NodeStorage } from "../index.js";
import { nowMs } from "../wasm/clock.js";
import { parseWholeNumber } from "./arguments.js";
import { formatCount, formatSize, note, progress } from "./print.js";
import { withStore } from "./store.js";

/** @typedef {import("../store/store.js").Store} Store */
/** @typedef {import("../types/index.js").ImportableSession} ImportableSession */
/**
 * A session that is soon deleted. `expires`: when its client may delete it, RFC 3339; `days`: how long that keeps it
 * after its last change.
 * @typedef {ImportableSession & { expires: string, days: number }} ExpiringSession
 */

/** How long before it is deleted a session is told. */
const WARNING_MS = 14 * 86_400_000;

/** @param {Record<string, any>} args */
export async function listImportable(args) {
  const limit = args.limit === undefined ? Infinity : parseWholeNumber(args.limit, "limit");
  const { onProgress, end } = progress("reading", "file");
  /** @type {ImportableSession[]} */
  const value = [];
  await withStore(args, async (store) => {
    for (const path of args.all ? [undefined] : args._) {
      const asked = { from: args.from, limit: limit - value.length, onProgress };
      const { importable, problems } = await store.listImportable(path && resolve(path), asked);
      value.push(...importable);
      for (const problem of problems) note(`${problem.path}: ${problem.message} (${problem.code})`);
    }
  });
  end();
  return { text: renderImportable(value), value };
}

/** Reports them agent by agent. @param {ImportableSession[]} sessions */
function renderImportable(sessions) {
  const names = [...new Set(sessions.map(({ agent }) => agent))].sort();
  const parts = names.map((name) => {
    const own = sessions.filter(({ agent }) => agent === name);
    const lines = own.map((one) => {
      const { title, path, bytes, changed = "", isNew } = one;
      const kind = isNew ? "new" : "more";
      const about = `${JSON.stringify(title)}, ${countText(one)}, ${formatSize(bytes)}`;
      return `  ${changed.slice(0, 10)}  ${kind}  ${about}\n              ${path}\n`;
    });
    return `${name}: ${formatCount(own.length, "session")}\n${lines.join("")}`;
  });
  return sessions.length === 0 ? "nothing to import: the store has all of it\n" : parts.join("");
}

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
  /** When their files are deleted, by their paths. @type {Map<string, { expires: string, days: number }>} */
  const expiring = new Map();
  try {
    await agents.ready();
    for (const place of await transcriptLocations(store)) {
      const days = await retentionDays(place, store);
      if (days === undefined) continue;
      for await (const { path, mtimeMs } of listAgentFiles(storage, place.path, place.is)) {
        const expiryMs = expiryOf(mtimeMs, days);
        if (expiryMs - nowMs() <= WARNING_MS) expiring.set(path, { expires: new Date(expiryMs).toISOString(), days });
      }
    }
  } finally {
    await storage.close();
  }
  const { importable } = await store.listImportable([...expiring.keys()]);
  const found = importable.flatMap((one) => {
    const expiry = expiring.get(one.path);
    return expiry ? [{ ...one, ...expiry }] : [];
  });
  return found.sort((one, other) => (one.expires < other.expires ? -1 : 1));
}

/** @param {ImportableSession} session */
const countText = ({ messageCount, newMessages }) =>
  newMessages === messageCount
    ? formatCount(messageCount, "message")
    : `${newMessages} of ${formatCount(messageCount, "message")}`;

/** @param {ExpiringSession[]} sessions */
function renderExpiring(sessions) {
  const [first] = sessions;
  if (!first) return "no session that its agent soon deletes is missing here\n";
  const lines = sessions.map((one) => {
    const { agent, title, path, expires } = one;
    return `  ${expires.slice(0, 10)}  ${agent}  ${JSON.stringify(title)}, ${countText(one)}\n              ${path}\n`;
  });
  return `not imported, and deleted by the agent's own client from this day on:\n${lines.join("")}'leftoff import --all' imports them\n`;
}
