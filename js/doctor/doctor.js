// @ts-check
/** What is wrong with a store and its sessions; without `fix`, no byte is changed by looking. */

import { join } from "node:path";

import { refuseBug, unlessBug } from "../error.js";
import { keptSecrets } from "../privacy/redaction.js";
import { Live, idOf } from "../session/handle.js";
import { conversationOf } from "../placement/placement.js";
import { leftOver, mended, ofNobody, ofSession, problem } from "./upkeep.js";

/** @import { Cache } from "../session/handle.js" */
/** @import { Place } from "../placement/placement.js" */
/** @import { Storage } from "../storage/contract.js" */
/** @import { Finding } from "./upkeep.js" */
/** @import { DoctorReport, FileProblem } from "../types/index.js" */
/** @import { CoreStore } from "../wasm/store.js" */
/** @typedef {Awaited<ReturnType<typeof mended>>} Mended */

/**
 * @param {Place} place
 * @param {{ cache: Cache, core: CoreStore, home: string, fix: boolean, secrets?: boolean }} options
 * @returns {Promise<DoctorReport | undefined>} nothing where there is no session
 */
export async function ofPlace(place, { cache, core, fix, secrets = false }) {
  const { path, placement } = place;
  const named = placement === "home" ? idOf(path) : conversationOf(path).name;
  const live = new Live({ ...place, cache });
  try {
    await live.open();
    const { health, problems } = await live.run("examine");
    if (live.isEmpty && problems.length === 0) return undefined;
    const kept = secrets ? await keptSecrets(place) : [];
    const findings = await ofSession(place, { live, problems, core, home: { storage: cache.storage } });
    if (!fix || findings.length === 0) return { id: live.id, path, health, problems: [...whole(problems, findings), ...kept], fixed: [] };
    const { fixed, failed } = await mended(findings);
    const again = await live.run("examine");
    return { id: live.id, path, health: again.health, problems: [...again.problems, ...failed, ...kept], fixed };
  } catch (error) {
    refuseBug(error);
    return { id: live.id || named, path, health: "unreadable", problems: [problem("-", error.code, error.message)], fixed: [] };
  } finally {
    live.letGo();
  }
}

/**
 * @param {{ cache: Cache, home: string, cut: Mended, ids: Set<string>, core: CoreStore, project: string, projectStorage: Storage,
 *   fix: boolean, current: () => Promise<{ id: string, path: string } | undefined> }} store `cut`: what was
 *   cut off and is ended, or is still there; `ids`: of its sessions;
 *   `current`: the session to point to
 * @returns {Promise<DoctorReport | undefined>}
 */
export async function ofStore({ cache: { storage, folder }, home, cut, ids, core, project, projectStorage, fix, current }) {
  /** @type {Finding[]} */
  const findings = [];
  const damaged = await core.run("indexDamage");
  if (damaged > 0) {
    const mend = () => core.run("mendIndex").then(() => `wrote the index anew without ${damaged} damaged lines`);
    findings.push({ problem: problem("index.jsonl", "bad_index", `expected lines of an index, but found ${damaged} that are none`), mend });
  }
  for (const one of [home, folder, join(home, "sessions")]) findings.push(...(await leftOver(storage, one)));
  findings.push(...(await leftOver(projectStorage, join(project, ".leftoff"))), ...(await ofNobody({ storage, folder }, ids)));
  const pointer = await core.run("pointer");
  if (pointer && !(await isThere(pointer.path))) {
    const mend = async () => {
      const other = await current();
      await (other ? core.run("point", other.id, other.path) : core.run("unpoint"));
      return other ? `pointed the project to its last session, ${other.id}` : "took away the pointer to the current session";
    };
    findings.push({ problem: problem("current-session.json", "dangling_pointer", `expected a session at "${pointer.path}", but found none`), mend });
  }
  // Of a sound one there is nothing to say.
  if (findings.length === 0 && cut.failed.length === 0 && cut.fixed.length === 0) return undefined;
  const { fixed, failed } = fix ? await mended(findings) : { fixed: [], failed: whole([], findings) };
  return { id: "store", path: home, health: "ok", problems: [...cut.failed, ...failed], fixed: [...cut.fixed, ...fixed] };

  /** @param {string} path */
  async function isThere(path) {
    const stat = path.startsWith(home) ? storage.stat(path) : projectStorage.stat(path);
    // What lies elsewhere, nobody can tell.
    const found = await stat.catch((error) => (error?.code === "outside_store" ? undefined : unlessBug(error)));
    return found !== null;
  }
}

/** @param {FileProblem[]} problems @param {Finding[]} findings */
function whole(problems, findings) {
  return [...problems, ...findings.map((finding) => finding.problem).filter((one) => !problems.includes(one))];
}
