// @ts-check
/** A script as its file has it: a step and an answer a line, so that a change of one is a change of one line. */

/** @import { Script } from "./run.mjs" */

/** @param {Script} script */
export function renderScript({ tries, start, steps, answers = [], files = {} }) {
  const list = (/** @type {unknown[]} */ all) =>
    `[\n${all.map((one) => `    ${JSON.stringify(one)}`).join(",\n")}\n  ]`;
  const table = Object.entries(files)
    .map(([name, file]) => `    ${JSON.stringify(name)}: ${JSON.stringify(file)}`)
    .join(",\n");
  const parts = [
    `"tries": ${JSON.stringify(tries)}`,
    ...(start ? [`"start": ${JSON.stringify(start)}`] : []),
    `"steps": ${list(steps)}`,
    `"answers": ${list(answers)}`,
    `"files": {\n${table}\n  }`,
  ];
  return `{\n  ${parts.join(",\n  ")}\n}\n`;
}
