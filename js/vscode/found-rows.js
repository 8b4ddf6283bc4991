// @ts-check
/** What was found in other agents' folders, as rows: by agent, sub-agents' sessions with the one that ran them. */

/**
 * A session as `leftoff import --dry-run --json` lists it.
 * @typedef {object} FoundSession
 * @property {string} agent
 * @property {string} id the agent's own of it
 * @property {string} title
 * @property {string} [folder]
 * @property {string} [session] the store's, unless it is new there
 * @property {string} [parent] the agent's id of the session whose sub-agent it is
 * @property {number} messageCount
 * @property {number} newMessages
 * @property {string} path
 * @property {string} [changed] RFC 3339
 *
 * `paths`: its file, and those of its sub-agents; `expires`: from when on its client deletes it, RFC 3339.
 * @typedef {FoundSession & { paths: string[], expires?: string }} FoundRow
 * @typedef {{ agent: string, rows: FoundRow[] }} FoundAgent
 */

/**
 * @param {readonly FoundSession[]} found those that changed last at first
 * @param {readonly { path: string, id: string, expires: string }[]} [expiring]
 * @returns {FoundAgent[]} by name
 */
export function arrangeFound(found, expiring = []) {
  const keyOf = (/** @type {string} */ agent, /** @type {string} */ id) => `${agent}\n${id}`;
  const known = new Map(found.map((one) => [keyOf(one.agent, one.id), one]));
  const topOf = (/** @type {FoundSession} */ one) => {
    const met = new Set();
    let top = one;
    while (top.parent && !met.has(top)) {
      met.add(top);
      const above = known.get(keyOf(top.agent, top.parent));
      if (!above) return top;
      top = above;
    }
    return top;
  };
  const expiry = new Map(expiring.map(({ path, id, expires }) => [`${path}\n${id}`, expires]));
  /** @type {Map<FoundSession, FoundRow>} */
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
