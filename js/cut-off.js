// @ts-check
/** What was being moved, deleted or purged by a process that is gone, and how that is brought to an end. */

import { basename, join } from "node:path";

import { called } from "./core.js";
import { unlessBug } from "./error.js";
import { names } from "./placement.js";
import { toTrash } from "./trash.js";
import { isLeft, problem } from "./upkeep.js";

/** @import { Place } from "./placement.js" */
/** @import { Places } from "./places.js" */
/** @import { Storage } from "./storage/contract.js" */
/** @import { Finding } from "./upkeep.js" */
/** @import { CoreStore } from "./wasm/store.js" */

/** @typedef {{ places: Places, core: CoreStore, storage: Storage, home: string }} Where `storage`: of the home */

/** @param {Where} where @returns {Promise<Finding[]>} */
export async function cutOff({ places, core, storage, home }) {
  const found = (await places.moves.cutOff()).map(({ path, move, mend }) => ({
    problem: problem(basename(path), "cut_off_move", `process ${move.by.pid} is gone and was moving the session ${move.id} from "${move.from.path}" to "${move.to.path}"`),
    mend,
  }));
  for (const around of await core.run("around")) found.push(...(await inFolder({ ...places.of({ ...around, path: join(around.path, names().sessionFolder) }), path: around.path }, { places, core, storage, home })));
  const trash = { storage, path: join(home, names().trash) };
  for (const { name } of (await storage.list(trash.path).catch(unlessBug)) ?? []) {
    const { coming } = names();
    const [, pid] = (name.startsWith(coming) && called((core) => core.readRenamed(name.slice(coming.length)))) || [];
    if (pid && (await isLeft(storage, join(trash.path, name), Number(pid)))) found.push(removing(trash, name, `process ${pid} is gone and left half a copy`));
  }
  return found;
}

/** @param {Place} around @param {Where} where @returns {Promise<Finding[]>} */
async function inFolder(around, { places, storage: home, home: folder }) {
  const { storage, path } = around;
  const found = [];
  for (const { name, kind } of (await storage.list(path).catch(unlessBug)) ?? []) {
    const at = join(path, name);
    if (kind !== "folder") continue;
    const renamed = called((core) => core.readRenamed(name));
    if (renamed) {
      const [why, pid, was] = renamed;
      // What a move left, the move takes away.
      if (!(await isLeft(storage, at, Number(pid))) || (await places.moves.names(at))) continue;
      found.push(why === "left" ? trashing(around, { name, was, pid, home, folder }) : removing(around, name, `process ${pid} is gone and was removing a folder`));
    } else if (called((core) => core.isTaking(name)) && (await places.moves.isAbandoned({ storage, path: at }))) {
      found.push({
        problem: problem(name, "cut_off_move", `expected a session in "${at}", but found a place that a process which is gone took for one`),
        mend: () => places.moves.freed({ ...around, path: at }).then(() => `gave up the place "${at}"`),
      });
    }
  }
  return found;
}

/** @param {Place} around @param {{ name: string, was: string, pid: string, home: Storage, folder: string }} about @returns {Finding} */
function trashing({ storage, path, placement }, { name, was, pid, home, folder }) {
  const lies = join(path, name);
  const session = { storage, placement, path: join(path, placement === "home" ? was : names().sessionFolder) };
  const mend = async () => `put "${lies}" into the trash: "${await toTrash(session, { storage: home, home: folder, lies })}"`;
  return { problem: problem(name, "cut_off_delete", `process ${pid} is gone and was putting a session into the trash: it lies at "${lies}"`), mend };
}

/** @param {{ storage: Storage, path: string }} around @param {string} name @param {string} why @returns {Finding} */
function removing({ storage, path }, name, why) {
  const at = join(path, name);
  return { problem: problem(name, "left_over", `${why} at "${at}"`), mend: () => storage.remove(at).then(() => `removed "${at}"`) };
}
