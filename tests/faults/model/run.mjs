// @ts-check
/** A sequence of steps: taken, one after another, in a world and in the model. */

import assert from "node:assert/strict";
import { join } from "node:path";

import { projectHash } from "../../js/many-sessions.js";
import { comparedAll, keptLogs } from "./checks.mjs";
import { Model } from "./model.mjs";
import { STEPS, WORDS } from "./steps.mjs";
import { textOf } from "./world.mjs";

/** @import { ModelSession } from "./model.mjs" */
/** @import { World } from "./world.mjs" */

/**
 * One step, as chance has it: `by`: which process; `which` and `n` say the rest.
 * @typedef {{ step: string, by: number, which: number, n: number }} Pick
 */

const START_MS = Date.parse("2025-11-22T09:00:00Z");
const ONE_SECOND = 1000;

export class Run {
  model = new Model(2);
  startMs = START_MS;
  now = START_MS;
  taken = 0;
  #count = 0;

  /** @param {World} world */
  constructor(world) {
    this.world = world;
    this.project = /** @type {string} */ (world.places.projects[0]);
  }

  /** @param {Pick[]} picks */
  async runAll(picks) {
    for (const pick of picks) {
      await this.settle();
      this.now += ONE_SECOND;
      const step = /** @type {import("./steps.mjs").Step} */ (STEPS[pick.step]);
      if ((await step(this, pick)) === false) continue;
      this.taken += 1;
      await keptLogs(this);
    }
    await this.settle();
    this.now += ONE_SECOND;
    await comparedAll(this);
    await keptLogs(this);
  }

  /** Of those that may have been paused by who has them open, the files say whether they were. */
  async settle() {
    for (const known of this.model.sessions.filter(({ mayRest }) => mayRest)) {
      const log = (await this.world.files.read(join(known.path, "events.jsonl"))) ?? new Uint8Array();
      const last = textOf(log)
        .split("\n")
        .findLast((line) => line.includes('"type":"status"'));
      if (last && JSON.parse(last).reason === "idle") known.status = "paused";
      known.mayRest = false;
    }
  }

  /** @param {number} by @param {string} verb @param {any} asked */
  async ask(by, verb, asked) {
    const answer = await this.world.ask(by, verb, asked, this.now);
    assert.notEqual(answer.code, "bug", `${verb} ${JSON.stringify(asked)}: ${answer.message}`);
    return answer;
  }

  /** @param {number} by @param {string} verb @param {any} asked */
  async does(by, verb, asked) {
    const { value, code, message } = await this.ask(by, verb, asked);
    assert.equal(code, undefined, `${verb} ${JSON.stringify(asked)}: ${message}`);
    return value;
  }

  /** @param {number} by @param {string} verb @param {any} asked @param {string[]} codes */
  async expectRefusal(by, verb, asked, codes) {
    const { code = "nothing" } = await this.ask(by, verb, asked);
    assert.ok(
      codes.includes(code),
      `expected ${verb} ${JSON.stringify(asked)} to be refused as ${codes}, but found ${code} instead`,
    );
  }

  /** A process opens a session that it was asked for by its id. @param {number} by @param {ModelSession} known */
  open(by, known) {
    if (!this.model.processes[by]?.open.has(known.id)) this.model.mayLook(this.model.sessions, this.now, by);
    this.model.opens(by, known, this.now);
  }

  /** One of those that are there. @param {number} which */
  pickSession(which) {
    return this.model.sessions[which % this.model.sessions.length];
  }

  /** Those to go on with: the one that is pointed to, else all that were active last. @param {ModelSession[]} from */
  pointedSessions(from) {
    const { pointer } = this.model;
    const one = from.filter(({ id, path }) => id === pointer?.id && path === pointer.path);
    const last = Math.max(...from.map(({ lastMs, createdMs }) => lastMs ?? createdMs));
    return one.length > 0 ? one : from.filter(({ lastMs, createdMs }) => (lastMs ?? createdMs) === last);
  }

  /** Words that were not said before. @param {number} n */
  words(n) {
    return `${WORDS[n % WORDS.length]} ${(this.#count += 1)}`;
  }

  newId() {
    return `call-${(this.#count += 1)}`;
  }

  /** @param {string} id @param {string} project */
  homeOf(id, project) {
    return join(this.world.places.home, "sessions", "projects", projectHash(project), `session-${id}`);
  }

  /** Whether a conversation's day is today. @param {ModelSession} known */
  isToday({ path }) {
    return (
      path.split("/").at(-3) ===
      new Date(this.now - new Date(this.now).getTimezoneOffset() * 60_000).toISOString().slice(0, 10)
    );
  }

  /** It is there no longer. @param {ModelSession} known */
  async removeSession(known) {
    this.model.sessions = this.model.sessions.filter((one) => one !== known);
    for (const { open, held } of this.model.processes) for (const set of [open, held]) set.delete(known.id);
  }

  /**
   * It belongs to another project; other processes hold what they had until they look.
   * @param {number} by
   * @param {ModelSession} known
   * @param {string} project
   */
  async relocateSession(by, known, project) {
    known.project = project;
    known.path = this.homeOf(known.id, project);
    this.model.processes[by]?.held.delete(known.id);
    for (const { open } of this.model.processes) open.delete(known.id);
  }
}
