// @ts-check
/** The commands that agents get: what each runs, and what its answer is for. */

import { ANSWER } from "./names.js";

/** @import { Key } from "./names.js" */

/**
 * @typedef {object} Text
 * @property {string} description as a list of commands shows it
 * @property {string} [hint] what is typed behind the name
 * @property {string} runs the command line, behind the program
 * @property {string} then what the model does with the answer
 */

const SHOW = `Above is ${ANSWER}. Show it to the user as it is, and do nothing else.`;

/** @param {string} program as a shell takes it @param {string} from as `--from` takes it @param {{ plugin?: boolean }} [as] @returns {Record<Key, Text>} */
export function texts(program, from, { plugin = false } = {}) {
  const here = `--from ${from}${plugin ? " --plugin" : ""}`;
  return {
    resume: {
      description: "Continue a conversation that was stopped",
      hint: "[number or words]",
      runs: `resume --print ${here}`,
      then: `Above is ${ANSWER}. If it is a list, show it as it is, ask which conversation to continue (number or search), and wait; when the user answers, run \`${program} resume --print ${here} "<what the user answered>"\`, and do with what it prints as is said here. If it has a block that begins with RESUMED CONVERSATION, the text before the block is your task as it was then: say that the conversation is resumed and under which title, tell the user each warning, and go on where it stopped. Was it marked complete, ask whether to resume it nevertheless; who wants that has you run the same with --override behind it.`,
    },
    stop: {
      description: "Save this conversation and pause it",
      runs: `stop ${here}`,
      then: `Above is ${ANSWER}. Unless the user gave a summary, run \`${program} stop ${here} --summary "<where it stopped, in one sentence>"\`, and tell the user that answer word for word; else, or where that fails, tell the user the one above word for word.`,
    },
    sessions: { description: "Conversations of this project that leftoff keeps", hint: "[all]", runs: `typed sessions ${here}`, then: SHOW },
    session: { description: "This conversation as leftoff keeps it", hint: "info | export [file] | archive", runs: `typed session ${here}`, then: SHOW },
    compact: { description: "What compaction would do to this conversation's contexts in leftoff", hint: "[--apply]", runs: `typed compact ${here}`, then: SHOW },
    debug: { description: "What the last context that leftoff built was made of; with full, that context", hint: "[full]", runs: `typed debug ${here}`, then: SHOW },
  };
}
