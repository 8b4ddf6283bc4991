// @ts-check
// A long session in a store of its own, for tests.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { openStore } from "../../js/index.js";

/** @typedef {import("../../js/session/session.js").Session} Session */

/** A turn of some hundred tokens. @param {string} name */
export function turnAbout(name) {
  return [
    {
      role: "user",
      content: `Please look at ${name}. ${"It should be done with care, and told briefly. ".repeat(12)}`,
    },
    {
      role: "assistant",
      content: `I looked at ${name}. ${"What was found there is as it should be, so far. ".repeat(12)}`,
    },
  ];
}

/** @param {Session} session */
export async function messagesOf(session) {
  const all = [];
  for await (const message of session.messages()) all.push(message);
  return all;
}

/**
 * A session of so many turns. `again` closes it, and gives it as another process would open it.
 * @param {{ turns: number }} size
 * @param {(given: { session: Session, home: string, again: () => Promise<Session> }) => Promise<void>} work
 */
export async function inStore({ turns }, work) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-long-")));
  const [home, project] = [join(folder, "home"), join(folder, "project")];
  mkdirSync(project);
  let store = await openStore({ home, project });
  const session = await store.create();
  for (let turn = 0; turn < turns; turn += 1)
    await session.append(turnAbout(`file ${turn}`), { durability: "buffered" });
  const again = async () => {
    await store.close();
    store = await openStore({ home, project });
    return store.session(session.id);
  };
  try {
    await work({ session, home, again });
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
}
