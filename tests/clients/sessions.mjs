// @ts-check
/** The long sessions: how many tokens, in how many turns, over which part of the history. */

import { chance } from "../faults/tools.mjs";
import { commit, commits, git } from "./history.mjs";
import { Work } from "./work.mjs";

/**
 * @typedef {object} Plan
 * @property {number} tokens
 * @property {number} turns
 * @property {number} commits how many of the history's commits are done again
 * @property {boolean} hasTodoWrite else the newer list of tasks
 */

/** The oldest so many are those done again, so that a session stays what it is while the history grows. */
export const FEWEST_COMMITS = 110;

/** @type {Plan[]} */
export const PLANS = [
  { tokens: 56_000, turns: 1, commits: 3, hasTodoWrite: true },
  { tokens: 60_000, turns: 5, commits: 5, hasTodoWrite: false },
  { tokens: 80_000, turns: 1, commits: 5, hasTodoWrite: false },
  { tokens: 105_000, turns: 8, commits: 8, hasTodoWrite: true },
  { tokens: 140_000, turns: 1, commits: 7, hasTodoWrite: true },
  { tokens: 180_000, turns: 12, commits: 10, hasTodoWrite: false },
  { tokens: 230_000, turns: 1, commits: 9, hasTodoWrite: false },
  { tokens: 300_000, turns: 6, commits: 11, hasTodoWrite: true },
  { tokens: 380_000, turns: 1, commits: 11, hasTodoWrite: true },
  { tokens: 460_000, turns: 20, commits: 12, hasTodoWrite: false },
];

/**
 * The script and the truth of one, over a clone, which is set back to where the session begins.
 * @param {{ repository: string, project: string, number: number, seed: number }} options
 */
export function session({ repository, project, number, seed }) {
  const plan = /** @type {Plan} */ (PLANS[number]);
  const random = chance(seed * 100 + number);
  const all = commits(repository).slice(0, FEWEST_COMMITS);
  const wanted = plan.commits;
  const start = Math.floor(((all.length - 3 * wanted) * (number + random.real())) / PLANS.length);
  git(project, ["checkout", "--quiet", "--detach", all[start] ?? "HEAD"]);
  const following = changing(project, all.slice(start + 1), wanted);
  const work = new Work({ project, random, hasTodoWrite: plan.hasTodoWrite });
  const subjects = following.map(({ subject }) => subject);
  let done = 0;
  for (let turn = 0; turn < plan.turns; turn += 1) {
    const due = Math.ceil((following.length * (turn + 1)) / plan.turns);
    const mine = following.slice(done, due);
    work.turn(
      turn === 0
        ? firstPrompt(subjects)
        : laterPrompt(
            mine.map(({ subject }) => subject),
            turn,
          ),
    );
    if (mine.length > 0)
      work.plan([
        ...mine.map(({ subject }) => subject),
        ...(random.real() < 0.4 ? [`Look again at what "${mine[0]?.subject.slice(0, 40)}" left open`] : []),
      ]);
    for (const one of mine) {
      done += 1;
      work.mark(one.subject, "in_progress");
      work.replay(one);
      if (random.real() < 0.3) work.byCommand(`part-${done}`);
      // The last one is not finished.
      if (done < following.length) work.mark(one.subject, "completed");
      work.wander((plan.tokens * (done - 0.2)) / following.length);
    }
    work.wander((plan.tokens * (turn + 1)) / plan.turns);
    work.endTurn(`"${mine.at(-1)?.subject ?? "Reading"}" is as far as it goes for now.`);
  }
  return { plan, turns: work.turns, truth: work.truth };
}

/**
 * The first so many commits that change a text.
 * @param {string} project
 * @param {string[]} ids
 * @param {number} wanted
 */
function changing(project, ids, wanted) {
  const found = [];
  for (const id of ids) {
    const one = commit(project, id);
    if (one.changes.length > 0) found.push(one);
    if (found.length === wanted) break;
  }
  return found;
}

/** @param {string[]} subjects */
function firstPrompt(subjects) {
  const listed = subjects
    .slice(0, 5)
    .map((subject) => `"${subject}"`)
    .join(", ");
  return `Bring this tree on, one change after the other, as its history did: ${listed}. Check each against the commit, and keep a list of tasks.`;
}

/** @param {string[]} subjects @param {number} turn */
function laterPrompt(subjects, turn) {
  if (subjects.length === 0)
    return `Before you go on: read how the parts around it work together, and tell me. (${turn})`;
  return `Go on with ${subjects.map((subject) => `"${subject}"`).join(" and ")}.`;
}
