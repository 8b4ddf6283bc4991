// @ts-check
/** What stands between messages: where the conversation forks. */

import { html, nothing } from "lit";
import { messagesOf } from "../builds.js";
import { formatMany, formatTime } from "../format.js";
import { icon } from "./icons.js";

/** @import { Row } from "../conversation.js" */
/** @import { Model } from "../model.js" */
/** @import { Path } from "../branches.js" */

/** What stands before the first message. @param {Model} model */
export const bandsBefore = (model) => bandsAt(model, "");

/** What stands behind a row: behind its message, or a result of its calls. @param {Model} model @param {Row} row */
export const bandsAfter = (model, row) => messagesOf(row).map(({ id }) => bandsAt(model, id));

/** @param {Model} model @param {string} message the id of the one before, "" before the first */
function bandsAt(model, message) {
  const paths = model.branches.forks.get(message);
  return paths ? bandOf(forkOf(model, paths)) : nothing;
}

/** @param {unknown} content */
const bandOf = (content) =>
  html`<div class="band">
    <div class="g"></div>
    ${content}
  </div>`;

/** @param {Model} model @param {Path[]} paths */
function forkOf(model, paths) {
  const times = paths.length === 2 ? "twice" : `${paths.length} times`;
  return html`<div class="fork" role="group" aria-label="Branches">
    ${icon("fork")}<span>The conversation went on ${times} from here.</span>
    <span class="seg">
      ${paths.map(
        (path) =>
          html`<button aria-pressed=${path.isShown} data-branch=${path.name} @click=${() => choose(model, path)}>
            ${nameOf(path)}
          </button>`,
      )}
    </span>
  </div>`;
}

/** @param {Path} path */
const nameOf = ({ timestamp, count }) =>
  count === 0 ? "Ends here" : [formatTime(timestamp), formatMany(count, "message")].filter(Boolean).join(", ");

/** @param {Model} model @param {Path} path */
const choose = (model, { name }) => model.changeBranch(() => model.branches.choose(name));
