// @ts-check
/** Does one thing with the session of a store, `<home> <what>`, and says what it took. */

import process from "node:process";
import { openStore } from "../js/index.js";
import { Counting } from "./counting.mjs";

const [home = "", what = ""] = process.argv.slice(2);

/** @type {Record<string, (session: import("../js/index.js").Session) => Promise<unknown>>} */
const things = {
  open: async () => {},
  "last 20": async (session) => {
    let left = 20;
    for await (const _ of session.messages({ newestFirst: true })) if ((left -= 1) === 0) return;
  },
  "32k context": (session) => session.context({ window: 32_000, encoding: "estimate-1", frame: false }),
  "context and resume": async (session) => {
    await session.context({ window: 32_768, encoding: "estimate-1" });
    await session.resume({ window: 32_768, encoding: "estimate-1" });
  },
  iterate: async (session) => {
    for await (const _ of session.messages()) continue;
  },
  doctor: (session) => session.examine(),
};

const storage = new Counting();
const store = await openStore({ home, project: "/", storage });
const [listed] = await store.list();
if (what !== "list" && listed) await things[what]?.(await store.session(listed.id));
await store.close();
// Linux tells kilobytes.
console.log(JSON.stringify({ bytesRead: storage.bytesRead, maxMb: process.resourceUsage().maxRSS / 1024 }));
