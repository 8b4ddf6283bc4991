// @ts-check
/** A session in which everything occurs that another client has to take over, and what a model is to be told of it. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** @import { Tools } from "./driving.mjs" */
/** @import { Step } from "./model/script.mjs" */
/** @import { Turn } from "./model/turns.mjs" */

/**
 * A step of the script, and for each of its calls what stands in the result and nowhere else.
 * @typedef {Step & { marks?: string[] }} MarkedStep
 * @typedef {{ prompt: string, steps: MarkedStep[] }} Prompt
 */

const NOTES = "note-81 über 漢字 🙂";

/** Writes the file that is read, too. @param {Tools} tools @param {string} project @returns {Prompt[]} */
export function prompts({ shell, read, write }, project) {
  const notes = join(project, "notes.txt");
  writeFileSync(notes, `${NOTES}\nand a second line\n`);
  // A mark stands in no command, so that it is known to come from the result.
  const print = (/** @type {string} */ word, /** @type {number} */ number) =>
    shell(`printf '${word}-%s ☃\\n' ${number}`);
  return [
    {
      prompt: "Look around: \"quoted\", 'single', `code` & <b>, Ünïcode 漢字 🙂",
      steps: [
        {
          reasoning: "First a command, naïvely.",
          text: "I shall run it — now.",
          calls: [print("one", 11)],
          marks: ["one-11 ☃"],
        },
        { text: "It ran.\n\nTwo paragraphs: ünï 漢字." },
      ],
    },
    {
      prompt: "Read the notes,\nthen two things at once.",
      steps: [
        { text: "The notes first.", calls: [read(notes)], marks: [NOTES] },
        {
          reasoning: "Both are independent.",
          text: "Now both.",
          calls: [print("two", 22), print("three", 33)],
          marks: ["two-22 ☃", "three-33 ☃"],
        },
        { reasoning: "Enough is known.", text: "Both are done." },
      ],
    },
    {
      prompt: "Fail once, then write.",
      steps: [
        { text: "This fails.", calls: [shell("printf 'bad-%s\\n' 44 >&2; exit 3")], marks: ["bad-44"] },
        { calls: [write(join(project, "out-55.txt"), "line one\nüñï ☃\n")], marks: [""] },
        { text: "Written, without a word before it." },
      ],
    },
  ];
}

/** What a model is to be told: each text, call and result once, in order. @param {Prompt[]} talk @returns {Turn[]} */
export function expectedTurns(talk) {
  let number = 0;
  return talk.flatMap(({ prompt, steps }) => [
    { role: "user", text: prompt },
    ...steps.flatMap(({ text, calls = [], marks = [] }) => {
      number += 1;
      const made = calls.map((call, place) => ({ id: `step${number}c${place}`, ...call }));
      /** @type {Turn} */
      const said = { role: "assistant", ...(text ? { text } : {}), ...(made.length > 0 ? { calls: made } : {}) };
      const results = made.map(({ id }, place) => ({ id, text: marks[place] ?? "" }));
      /** @type {Turn[]} */
      const answered = [{ role: "user", results }];
      return made.length > 0 ? [said, ...answered] : [said];
    }),
  ]);
}

/**
 * Turns with the mark in the place of each result that holds it and no other one, since every client words results
 * otherwise. Results of calls that were made at once come as they end; here they are in the order of the calls.
 * @param {Turn[]} turns
 * @param {Turn[]} wanted
 * @returns {Turn[]}
 */
export function markResults(turns, wanted) {
  const marks = new Set(wanted.flatMap(({ results = [] }) => results.map(({ text }) => text)));
  return turns.map(({ results, ...turn }, place) => {
    if (!results) return turn;
    const called = (turns[place - 1]?.calls ?? []).map(({ id }) => id);
    const sorted = results.toSorted((one, other) => called.indexOf(one.id) - called.indexOf(other.id));
    const known = wanted[place]?.results ?? [];
    return {
      ...turn,
      results: sorted.map(({ id, text }, at) => ({ id, text: findMark(text, marks, known[at]?.text) })),
    };
  });
}

/** Turns in which a result stands once, however often it was repeated there. @param {Turn[]} turns @returns {Turn[]} */
export function dedupeResults(turns) {
  return turns.map((turn) =>
    turn.results
      ? {
          ...turn,
          results: turn.results.filter(
            (one, place, all) => all.findIndex(({ id, text }) => id === one.id && text === one.text) === place,
          ),
        }
      : turn,
  );
}

/** @param {string} text @param {Set<string>} marks @param {string} [mark] */
function findMark(text, marks, mark = text) {
  const others = [...marks].filter((one) => one !== "" && one !== mark);
  return text.includes(mark) && !others.some((one) => text.includes(one)) ? mark : text;
}
