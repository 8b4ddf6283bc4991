// @ts-check
/** The transcript viewer: shows one session in a page. */

import { loadWasm } from "../index.js";
import { findChildren } from "./children.js";
import { Viewer } from "./elements/viewer.js";
import { Model } from "./model.js";

/** @import { ReadMessage, Session, Store } from "../index.js" */

/** How many messages are read before the first are shown. */
const FIRST_MESSAGES = 200;

/**
 * Shows a session below an element, in place of what is there: its messages as they are read, then what is appended.
 * @param {Element} root
 * @param {{ store: Store, session: Session }} opened the session is one of the store's; neither is closed here. A store
 *   that was opened `readOnly` keeps its last context as it is, whichever previews are looked at
 * @returns {{ whole: Promise<void>, close: () => void }} `whole`: once all messages are read; rejects with what reading
 *   throws
 */
export function openViewer(root, { store, session }) {
  const model = new Model(session.metadata);
  model.inspector.session = session;
  model.inspector.prepare = loadVocabularies;
  const ended = new AbortController();
  const viewer = new Viewer();
  viewer.model = model;
  root.replaceChildren(viewer);
  const whole = read(viewer, { store, session }, ended.signal);
  return {
    whole,
    close: () => {
      ended.abort();
      viewer.remove();
    },
  };
}

/** @param {Viewer} viewer @param {{ store: Store, session: Session }} opened @param {AbortSignal} signal */
async function read(viewer, { store, session }, signal) {
  const { model } = viewer;
  /** @type {ReadMessage[]} */
  let waiting = [];
  let limit = FIRST_MESSAGES;
  for await (const message of session.messages()) {
    if (signal.aborted) return;
    waiting.push(message);
    if (waiting.length < limit) continue;
    model.add(waiting);
    // Twice as many each time, as each time all rows are made anew.
    limit *= 2;
    waiting = [];
    await new Promise((go) => setTimeout(go));
  }
  model.isWhole = true;
  model.add(waiting);
  await viewer.updateComplete;
  viewer.goToLink();
  const hasAgents = model.rows.some(({ calls }) => calls.some(({ kind }) => kind === "agent"));
  void reportFailure(model, async () => {
    if (hasAgents) await findChildren(model, store, session);
    const { problems } = await session.examine();
    model.change(() => (model.damage = problems));
  });
  void reportFailure(model, () => follow(viewer, session, signal));
}

/** Does what nobody waits for; where it fails, the page says why. @param {Model} model @param {() => Promise<void>} work */
async function reportFailure(model, work) {
  try {
    await work();
  } catch (error) {
    model.change(() => (model.trouble = error instanceof Error ? error.message : String(error)));
  }
}

/** @param {Viewer} viewer @param {Session} session @param {AbortSignal} signal */
async function follow(viewer, session, signal) {
  const { model } = viewer;
  for await (const message of session.follow({ signal })) {
    const before = model.conversation.totals.messages;
    model.isLive = true;
    model.add([message]);
    const isNew = model.conversation.totals.messages > before;
    if (isNew && viewer.conversation.wasAtEnd) viewer.followEnd();
    else if (isNew) model.change(() => (model.unseen += 1));
  }
}

/** @type {Promise<void> | undefined} */
let vocabularies;

/** Loads what counts tokens exactly, once, as only contexts need it. */
function loadVocabularies() {
  const url = (/** @type {string} */ name) => new URL(`../${name}_base.planes`, document.baseURI);
  // Where they are not there, the context that needs one says so.
  vocabularies ??= loadWasm({ o200k_base: url("o200k"), cl100k_base: url("cl100k") }).catch(() => {});
  return vocabularies;
}
