// @ts-check
// A process with a store: each line of its stdin is what it is asked for, each of its stdout what came of it.

import { createInterface } from "node:readline";

import { Process } from "./verbs.mjs";

/** @type {Process | undefined} */
let mine;
for await (const line of createInterface({ input: process.stdin })) {
  const { options, verb, asked, now, number } = JSON.parse(line);
  if (options) mine = new Process(options);
  else console.log(JSON.stringify({ number, ...(await mine?.does(verb, asked, now)) }));
}
