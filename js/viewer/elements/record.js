// @ts-check
/** A session of a list, as a link to it. */

import { html } from "lit";
import { addressOf } from "../address.js";
import { formatAgent, formatDate, formatMany } from "../format.js";
import { showHidden } from "../hidden.js";

/** @import { Listed } from "../../index.js" */

/** @param {Listed} listed @param {string} [search] */
export function recordOf({ id, title, project, agent, lastActive, messageCount }, search) {
  const [name = ""] = (project ?? "").split(/[\\/]/).slice(-1);
  const about = [showHidden(name), formatAgent(agent), formatDate(lastActive), formatMany(messageCount, "message")];
  return html`<a class="rec" href=${addressOf({ session: id, search })}>
    <span class="x">${showHidden(title) || "Session"}</span><span>${about.filter(Boolean).join(", ")}</span>
  </a>`;
}
