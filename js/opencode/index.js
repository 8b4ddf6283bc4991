// @ts-check
/**
 * The plugin for OpenCode: records its sessions while they go on, lets the model search and recall what was said, and
 * tells a compaction what not to lose. Whatever fails here, OpenCode goes on.
 */

import { Recorder } from "./recorder.js";

/** @import { Store } from "../store/store.js" */
/**
 * @typedef {import("../types/opencode.js").OpenCode2Context} OpenCode2Context
 * @typedef {import("../types/opencode.js").OpenCodeClient} OpenCodeClient
 * @typedef {import("../types/opencode.js").OpenCodeEvent} OpenCodeEvent
 * @typedef {import("../types/opencode.js").OpenCodeHooks} OpenCodeHooks
 * @typedef {import("../types/opencode.js").OpenCodeMessage} OpenCodeMessage
 * @typedef {import("../types/opencode.js").OpenCodeMessageInfo} OpenCodeMessageInfo
 * @typedef {import("../types/opencode.js").OpenCodePart} OpenCodePart
 * @typedef {import("../types/opencode.js").OpenCodePlace} OpenCodePlace
 * @typedef {import("../types/opencode.js").OpenCodePluginOptions} OpenCodePluginOptions
 * @typedef {import("../types/opencode.js").OpenCodeRecorder} OpenCodeRecorder
 * @typedef {import("../types/opencode.js").OpenCodeSession} OpenCodeSession
 */

/** @type {{ [key: symbol]: Set<string> }} */
const shared = /** @type {any} */ (globalThis);
/** The projects in which it runs in this process, whichever copies of this file were loaded. */
const openProjects = (shared[Symbol.for("leftoff/opencode")] ??= new Set());

/**
 * The plugin: `server` for OpenCode 1, `setup` for OpenCode 2, in which only the tools and the brief for a compaction
 * are there, by what is published of it: that was not tried with a real OpenCode 2.
 * @type {{
 *   id: string,
 *   server: (at: OpenCodePlace, options?: OpenCodePluginOptions) => Promise<Partial<OpenCodeHooks>>,
 *   setup: (context: OpenCode2Context) => Promise<(() => Promise<void>) | void>,
 * }}
 */
export default {
  id: "leftoff",
  // Each is loaded where it is called, so that a version of OpenCode loads nothing of the other one's.
  async server(at, options) {
    const { openPlugin } = await import("./plugin.js");
    const close = enterProject(at.directory);
    return close ? openPlugin(at, options, close) : {};
  },

  async setup({ location, options, session, tool }) {
    // OpenCode 1 calls it, too, without these.
    if (!location || !session || !tool) return;
    const { setUpPlugin } = await import("./setup.js");
    const close = enterProject(location.directory);
    if (close) return setUpPlugin({ location, options, session, tool }, close);
  },
};

/**
 * Notes that the plugin runs in a project. It may be named in the user's settings and in the project's, and each is
 * loaded.
 * @param {string} directory
 * @returns {(() => void) | undefined} what notes its end; nothing where it runs already
 */
function enterProject(directory) {
  if (openProjects.has(directory)) return undefined;
  openProjects.add(directory);
  return () => void openProjects.delete(directory);
}

/**
 * Makes what records sessions of OpenCode, for a plugin of your own.
 * @param {Store} store
 * @param {{ client: OpenCodeClient, report?: (error: unknown, session: string) => unknown }} parts `client`: as a plugin
 *   is given it; `report`: is told why something was not recorded, with the agent's id of the session
 * @returns {OpenCodeRecorder}
 * @example
 * const info = { id: "msg_1", sessionID: "ses_1", role: "user", time: { created: 1790000000000 } };
 * const part = { id: "prt_1", sessionID: "ses_1", messageID: "msg_1", type: "text", text: "Rename the parser." };
 * const recording = recorder(store, { client });
 * recording.take({ type: "message.updated", properties: { info } });
 * recording.take({ type: "message.part.updated", properties: { part } });
 * const session = await recording.session("ses_1");
 * session.metadata.imported?.agent; // => "opencode"
 */
export function recorder(store, { client, report = () => {} }) {
  return new Recorder(store, client, report);
}
