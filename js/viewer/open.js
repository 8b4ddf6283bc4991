// @ts-check
/** Shows one session in a page: reads it, and follows what is appended. */

import { readAddress } from "./address.js";
import { findChildren } from "./children.js";
import { findDamage, locateImported } from "./damage.js";
import { Viewer } from "./elements/viewer.js";
import { LastRead } from "./last-read.js";
import { Model } from "./model.js";
import { writeQuery } from "./query.js";

/** @import { ReadMessage, Session, Store } from "../index.js" */
/** @import { FileDamage } from "./damage.js" */

/**
 * @typedef {object} ShownSession
 * @property {Store} store
 * @property {Session} session one of the store's
 * @property {string} [search] a text to search from the start
 * @property {boolean} [isDropped] whether it is in no store but the page's own
 * @property {boolean} [isHead] whether it is the beginning of a session, of which the rest is still read
 * @property {() => Promise<void>} [keep] keeps it beyond the page; without it that is not offered
 * @property {string} [listAddress] where the header's bookmark leads
 * @property {() => Promise<void>} [prepareContexts] what is awaited before a context is built
 * @property {boolean} [header] whether there is one; else the strip of totals has the search field
 * @property {boolean} [sidebar] whether the outline is beside the conversation; else keys open it above
 * @property {readonly FileDamage[]} [problems] what could not be read of the files that the session is from
 */

/** How many messages are read before the first are shown. */
const FIRST_MESSAGES = 200;

/**
 * Shows a session below an element, in place of what is there.
 * @param {Element} root @param {ShownSession} opened
 * @returns {import("../types/viewer.js").OpenedViewer}
 */
export function showSession(root, opened) {
  const model = new Model(opened.session.metadata);
  model.listAddress = opened.listAddress;
  model.inspector.session = opened.session;
  const { store, session, isDropped = false, keep, header = true, sidebar = true } = opened;
  if (keep) model.keeping = { state: "offered", run: keep };
  model.selection.source = { store, session, isDropped };
  model.lastRead = new LastRead(session.id);
  if (opened.prepareContexts) model.inspector.prepare = opened.prepareContexts;
  const ended = new AbortController();
  const viewer = new Viewer();
  Object.assign(viewer, { model, hasHeader: header, hasSidebar: sidebar });
  root.replaceChildren(viewer);
  const whole = read(viewer, opened, ended.signal);
  return {
    whole,
    focus: () => viewer.focusCurrent(),
    openSearch: (query) => viewer.openSearch(query),
    toggleInspector: () => viewer.toggleInspector(),
    reveal: async (messageId) => {
      await whole;
      return viewer.reveal(messageId);
    },
    close: () => {
      ended.abort();
      viewer.remove();
    },
  };
}

/** @param {Viewer} viewer @param {ShownSession} opened @param {AbortSignal} signal */
async function read(viewer, { store, session, search, problems = [], isHead = false }, signal) {
  const { model } = viewer;
  // Begun before the first message is read, so that what is appended meanwhile is told, too.
  const followed = session.follow({ signal });
  const first = followed.next();
  first.catch(() => {});
  /** @type {ReadMessage[]} */
  let waiting = [];
  let limit = FIRST_MESSAGES;
  for await (const message of session.messages({ allBranches: true })) {
    if (signal.aborted) return;
    waiting.push(message);
    if (waiting.length < limit) continue;
    model.add(waiting);
    // Twice as many each time, as each time all rows are made anew.
    limit *= 2;
    waiting = [];
    await new Promise((go) => setTimeout(go));
  }
  model.isWhole = !isHead;
  model.add(waiting);
  await viewer.updateComplete;
  if (isHead) return;
  if (search === undefined || !goToHit(model, search)) viewer.goToLink();
  const hasAgents = model.rows.some(({ calls }) => calls.some(({ kind }) => kind === "agent"));
  void model.attempt(async () => {
    if (hasAgents) await findChildren(model, store, session);
    const { all } = model.branches;
    const own = problems.filter(({ sessions }) => sessions.includes(session.id));
    const damage = [...(await locateImported(own, all)), ...(await findDamage(store, session, all))];
    model.change(() => (model.damage = damage));
  });
  void model.attempt(() => follow(viewer, followed, first));
}

/**
 * Searches for a text, and goes to where the message that the address names has it.
 * @param {Model} model @param {string} text
 * @returns {boolean} whether the message has it
 */
function goToHit(model, text) {
  const { message = "" } = readAddress();
  model.showPathOf(message);
  model.search(writeQuery({ text, filters: [] }));
  return model.goToHitIn(message);
}

/**
 * Shows what is appended.
 * @param {Viewer} viewer @param {AsyncIterator<ReadMessage>} followed @param {Promise<IteratorResult<ReadMessage>>} first
 */
async function follow(viewer, followed, first) {
  const { model } = viewer;
  for (let next = await first; !next.done; next = await followed.next()) {
    const { branches } = model;
    const [before, end] = [branches.all.length, branches.path.at(-1)];
    model.isLive = true;
    model.add([next.value]);
    const isNew = branches.all.length > before;
    const isFollowed = branches.isCurrent && viewer.conversation.wasAtEnd;
    // Whoever reads a branch stays on it where the session goes on elsewhere.
    if (!isFollowed && end) model.showPathOf(end.id);
    if (isNew && isFollowed) viewer.followEnd();
    else if (isNew) model.change(() => (model.unseen += 1));
  }
}
