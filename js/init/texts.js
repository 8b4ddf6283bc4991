// @ts-check
/** The texts of the commands that agents get: what each runs, and what the model does with the answer. */

import { ANSWER_PHRASE } from "./names.js";

/** @import { Key } from "./names.js" */

/**
 * @typedef {object} Text
 * @property {string} description as a list of commands shows it
 * @property {string} [hint] the words typed after the name
 * @property {string} runs the command line, after the program
 * @property {string} then what the model does with the answer
 */

const SHOW_INSTRUCTION = `Above is ${ANSWER_PHRASE}. Show it to the user unchanged, and do nothing else.`;

/**
 * @param {string} program as a shell takes it
 * @param {string} from as `--from` takes it
 * @param {{ plugin?: boolean }} [as]
 * @returns {Record<Key, Text>}
 */
export function texts(program, from, { plugin = false } = {}) {
  const here = `--from ${from}${plugin ? " --plugin" : ""}`;
  return {
    resume: {
      description: "Continue a stopped conversation",
      hint: "[number or words]",
      runs: `resume --print ${here}`,
      then: `Above is ${ANSWER_PHRASE}. If it is a list, show it unchanged, ask which conversation to continue (a number or search words), and wait. When the user answers, run \`${program} resume --print ${here} "<the user's answer>"\` and treat its output as described here. If it contains a block that begins with RESUMED CONVERSATION, the text before the block is your task as it stood then: tell the user that the conversation is resumed, its title and every warning, and continue where it stopped. If the conversation is marked complete, ask the user whether to resume it anyway; if so, run the same command with --override at the end.`,
    },
    stop: {
      description: "Save this conversation and pause it",
      runs: `stop ${here}`,
      then: `Above is ${ANSWER_PHRASE}. Unless the user gave a summary, run \`${program} stop ${here} --summary "<where it stopped, in one sentence>"\` and repeat its output to the user word for word. If the user gave one, or if the command fails, repeat the answer above word for word.`,
    },
    sessions: {
      description: "List this project's conversations",
      hint: "[all]",
      runs: `typed sessions ${here}`,
      then: SHOW_INSTRUCTION,
    },
    session: {
      description: "Show, export or archive this conversation",
      hint: "info | export [file] | archive",
      runs: `typed session ${here}`,
      then: SHOW_INSTRUCTION,
    },
    compact: {
      description: "Preview or apply compaction of this conversation's contexts",
      hint: "[--apply]",
      runs: `typed compact ${here}`,
      then: SHOW_INSTRUCTION,
    },
    debug: {
      description: "Explain the last context that leftoff built; with full, show it",
      hint: "[full]",
      runs: `typed debug ${here}`,
      then: SHOW_INSTRUCTION,
    },
  };
}
