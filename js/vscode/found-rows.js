// @ts-check
/** What was found in other agents' folders, as rows: by agent, sub-agents' sessions with the one that ran them. */

/** @import { ImportableSession } from "../index.js" */

/**
 * `paths`: its file, and those of its sub-agents; `expires`: from when on its client deletes it, RFC 3339.
 * @typedef {ImportableSession & { paths: string[], expires?: string }} FoundRow
 * @typedef {{ agent: string, rows: FoundRow[] }} FoundAgent
 */

/**
 * @param {readonly ImportableSession[]} found those that changed last at first
 * @param {readonly Pick<FoundRow, "path" | "id" | "expires">[]} [expiring]
 * @returns {FoundAgent[]} by name
 */
export function arrangeFound(found, expiring = []) {
  // A sub-agent names the session that began it by its id, or, where that lies in another file, by the agent's own.
  const known = new Map(
    found.flatMap((one) => [
      [one.id, one],
      [`${one.agent}/${one.sourceId}`, one],
    ]),
  );
  const topOf = (/** @type {ImportableSession} */ one) => {
    const met = new Set();
    let top = one;
    while (top.parent && !met.has(top)) {
      met.add(top);
      const above = known.get(top.parent.session);
      if (!above) return top;
      top = above;
    }
    return top;
  };
  const expiry = new Map(expiring.map(({ path, id, expires }) => [`${path}\n${id}`, expires]));
  /** @type {Map<ImportableSession, FoundRow>} */
  const rows = new Map();
  for (const one of found) {
    const top = topOf(one);
    const row = rows.get(top) ?? { ...top, paths: [top.path] };
    rows.set(top, row);
    if (!row.paths.includes(one.path)) row.paths.push(one.path);
    const expires = expiry.get(`${one.path}\n${one.id}`);
    if (expires && (!row.expires || expires < row.expires)) row.expires = expires;
  }
  /** @type {Map<string, FoundRow[]>} */
  const agents = new Map();
  for (const row of rows.values()) agents.set(row.agent, [...(agents.get(row.agent) ?? []), row]);
  return [...agents].map(([agent, own]) => ({ agent, rows: own })).sort((a, b) => (a.agent < b.agent ? -1 : 1));
}
