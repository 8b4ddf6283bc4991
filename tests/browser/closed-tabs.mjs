// @ts-check
// Tabs that are closed in the middle of appends to the origin's private files, and a browser that allows no more: what
// was acknowledged is there, once, and it goes on.

import { equal, expect } from "./viewer.mjs";

/** @import { Browser, BrowserContext, Page } from "playwright-core" */

/** How many tabs are open at once, each with a session of its own. */
const LANES = 4;
/** After so many acknowledged appends a tab is closed, at most. */
const MAX_APPENDS = 3;
/** What the browser allows the origin where it is full. */
const ROOM_BYTES = 500_000;
/** More appends than there is room for. */
const MAX_ROOM_APPENDS = 100;
const TIMEOUT_MS = 60_000;

/**
 * Has a tab's worker do something.
 * @param {Page} page @param {string} name @param {unknown[]} given
 * @returns {Promise<any>} `value`, or `error`
 */
const run = (page, name, ...given) =>
  page.evaluate(
    ([name, given]) => /** @type {any} */ (globalThis).run(name, ...given),
    /** @type {const} */ ([name, given]),
  );

/** @param {Page} page @param {string} name @param {unknown[]} given */
async function value(page, name, ...given) {
  const { value: found, error } = await run(page, name, ...given);
  expect(!error, `${name}: expected no error, but found ${error?.message}`);
  return found;
}

/** @param {BrowserContext} context @param {string} origin */
async function openTab(context, origin) {
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  await page.goto(`${origin}/tab.html`);
  return page;
}

/** The appends that tabs have told of, by the tabs. */
class Acknowledgments {
  /** @type {Map<string, string[]>} */
  byTab = new Map();
  /** @type {Map<string, { count: number, reach: () => void }>} */
  #awaited = new Map();

  /** @param {string} name of the message */
  add = (name) => {
    const [tab] = name.split("/");
    const names = this.byTab.get(tab) ?? [];
    this.byTab.set(tab, [...names, name]);
    const awaited = this.#awaited.get(tab);
    if (awaited && names.length + 1 >= awaited.count) awaited.reach();
  };

  /** @param {string} tab @param {number} count @returns {Promise<void>} */
  reach(tab, count) {
    return new Promise((reach) => this.#awaited.set(tab, { count, reach }));
  }
}

/**
 * Closes tabs, each while its worker appends, and reads what they left.
 * @param {Browser} driven @param {string} origin @param {number} count of tabs
 */
export async function checkClosedTabs(driven, origin, count) {
  const context = await driven.newContext();
  const told = new Acknowledgments();
  await context.exposeBinding("acknowledge", (_, name) => told.add(name));
  const first = await openTab(context, origin);
  const ids = [];
  for (let lane = 0; lane < LANES; lane += 1) ids.push(await value(first, "create"));
  await first.close();
  const closeTabs = async (/** @type {string} */ id, /** @type {number} */ lane) => {
    for (let tab = lane; tab < count; tab += LANES) {
      const page = await openTab(context, origin);
      const isReached = told.reach(String(tab), 1 + (tab % MAX_APPENDS));
      // Whoever is closed gives no answer.
      const end = run(page, "appendOn", id, String(tab), Infinity).then(({ error }) => {
        throw new Error(`tab ${tab}: expected it to append until it is closed, but found ${error?.message}`);
      });
      end.catch(() => {});
      await Promise.race([isReached, end]);
      await page.close();
    }
  };
  await Promise.all(ids.map(closeTabs));
  const last = await openTab(context, origin);
  let more = 0;
  for (const [lane, id] of ids.entries()) {
    const { names, others, problems } = await value(last, "read", id);
    const wanted = [...told.byTab].filter(([tab]) => Number(tab) % LANES === lane).flatMap(([, all]) => all);
    equal(
      "what was acknowledged, and is lost",
      wanted.filter((name) => !names.includes(name)),
      [],
    );
    equal(
      "what is there twice",
      names.filter((/** @type {string} */ name, /** @type {number} */ place) => names.indexOf(name) !== place),
      [],
    );
    equal("the tabs that seem to have it open", others, 0);
    equal("what is wrong with its files", problems, []);
    more += names.length - wanted.length;
    await value(last, "append", id, "after");
    await value(last, "remove", id);
  }
  const all = [...told.byTab.values()].flat().length;
  equal("the tabs that appended", told.byTab.size - 1, count);
  console.log(
    `  ${count} tabs closed while they appended: ${all} messages acknowledged, all there once, and ${more} more`,
  );
  await context.close();
}

/**
 * Appends until the browser allows no more, and goes on once it does.
 * @param {Browser} driven @param {string} origin
 */
export async function checkQuota(driven, origin) {
  const context = await driven.newContext();
  /** @type {string[]} */
  const told = [];
  await context.exposeBinding("acknowledge", (_, name) => told.push(name));
  const page = await openTab(context, origin);
  const limit = await context.newCDPSession(page);
  const setQuota = (/** @type {number} */ quotaSize) =>
    limit.send("Storage.overrideQuotaForOrigin", { origin, quotaSize });
  const id = await value(page, "create");
  await value(page, "append", id, "before");
  await value(page, "replace", 10);
  await setQuota(ROOM_BYTES);
  for (const round of ["first", "second"]) {
    const { error } = await run(page, "appendOn", id, round, MAX_ROOM_APPENDS);
    equal("the code where the browser allows no more", error?.code, "disk_full");
  }
  const full = told.length;
  expect(full > 10, `expected some appends before the browser allowed no more, but found ${full}`);
  equal("what is there where the browser allows no more", (await value(page, "read", id)).names, told);
  equal("the code of a replacement", (await run(page, "replace", ROOM_BYTES)).error?.code, "disk_full");
  equal("the size of what was to be replaced", await value(page, "size"), 10);
  await page.close();
  const later = await openTab(context, origin);
  const { names } = await value(later, "read", id);
  equal("what the next tab finds", names, told);
  // Else the next tab would have what the last one had.
  await (await context.newCDPSession(later)).send("Storage.overrideQuotaForOrigin", { origin });
  await value(later, "append", id, "after");
  const { names: all, problems } = await value(later, "read", id);
  equal("what is there once it allows more", all, [...names, "after"]);
  equal("what is wrong with the files", problems, []);
  await value(later, "remove", id);
  console.log(`  the browser allowed ${full} appends, then none: all are there, and it goes on`);
  await context.close();
}
