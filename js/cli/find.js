// @ts-check
/** Sessions that are looked for: in lists, by words, by what was said. */

import { LeftoffError, listText } from "../index.js";
import { number } from "./arguments.js";
import { using } from "./store.js";

/** @typedef {Record<string, any>} Args */
/** @typedef {import("../listing.js").Listed} Listed */

// More hits than these nobody reads.
const HITS = 50;

/** @param {Args} args */
export async function list(args) {
  const listed = await using(args, (store) => store.list(wanted(args)));
  const none = "no sessions here; 'leftoff new' begins one, 'leftoff import --all' takes in those of your agents, 'leftoff list --all' shows other projects'\n";
  return { text: listText(listed) || none, value: listed.map(told) };
}

/** @param {Args} args */
export async function search(args) {
  const words = args._.join(" ");
  if (!words.trim()) throw new LeftoffError({ code: "usage", message: "expected WORDS to look for, but found none" });
  return args["full-text"] ? searchText(args, words) : searchTitles(args, words);
}

/** @param {Args} args @param {string} words */
async function searchTitles(args, words) {
  const { limit, ...asked } = wanted(args);
  const found = (await using(args, (store) => store.find(words, asked))).slice(0, limit);
  return { text: listText(found) || `no title and no summary here has "${words}"; --full-text looks in what was said\n`, value: found.map(told) };
}

/** @param {Args} args @param {string} words */
async function searchText(args, words) {
  const { limit, ...asked } = wanted(args);
  const most = Math.min(limit, args.limit === undefined ? HITS : Infinity);
  const hits = await using(args, async (store) => {
    const found = [];
    for await (const hit of store.search(words, asked)) if (found.push(hit) > most) break;
    return found;
  });
  const value = hits.slice(0, most).map(({ session, id, role, timestamp, excerpt }) => ({ session: session.id, title: session.title, id, role, timestamp, excerpt }));
  const text = value.map((hit, place) => `${hit.session === value[place - 1]?.session ? "" : `${hit.session}  ${hit.title}\n`}${line(hit)}`).join("");
  const more = hits.length > most ? `there is more; --limit N shows so many\n` : "";
  return { text: text ? text + more : `nobody said "${words}" here; --all looks in all projects\n`, value };
}

// The words in their place: between marks, that they are seen without colours, too.
/** @param {{ id: string, role?: string, excerpt: { text: string, isHit: boolean }[] }} hit */
function line({ id, role, excerpt }) {
  const text = excerpt.map(({ text, isHit }) => (isHit ? `»${text}«` : text)).join("");
  return `    ${role ?? "message"} ${id}: ${text.replace(/\s+/g, " ").trim()}\n`;
}

/** Which sessions are asked for. @param {Args} args */
export function wanted(args) {
  return { all: args.all, type: args.type, status: args.status, limit: args.limit === undefined ? Infinity : number(args.limit, "limit") };
}

/** @param {Listed} listed */
function told({ id, type, title, status, lastActive, summary, messageCount, placement, path }) {
  return { id, type, title, status, lastActive, summary, messageCount, placement, path };
}
