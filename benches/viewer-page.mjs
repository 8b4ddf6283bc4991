// @ts-check
/** What is measured in the viewer's page: functions that run there, without anything from here. */

/** Before the page begins: notes when a session is asked for, and when its first messages are painted. */
export function noteFirstRow() {
  const times = { start: 0, firstRow: NaN };
  Object.assign(globalThis, { viewerTimes: times });
  addEventListener("change", () => (times.start = performance.now()), { capture: true, once: true });
  const watch = new MutationObserver(() => {
    if (!document.querySelector("article")) return;
    watch.disconnect();
    requestAnimationFrame(() => setTimeout(() => (times.firstRow = performance.now())));
  });
  watch.observe(document, { childList: true, subtree: true });
}

/** Since the session was asked for: when its first messages were painted, and when all of it was read. @returns {Promise<{ firstMs: number, wholeMs: number }>} */
export async function readTimes() {
  const { start, firstRow } = /** @type {any} */ (globalThis).viewerTimes;
  return { firstMs: firstRow - start, wholeMs: performance.now() - start };
}

/**
 * Scrolls from one end to the other in big steps, as who drags a scrollbar does.
 * @param {number} steps about so many
 * @returns {Promise<{ blankMs: number, last: number, count: number }>} `blankMs`: the longest time in which a part of the
 *   list showed no message; `last`: the place of the last message that was seen; `count`: of the list
 */
export async function scrollOver(steps) {
  const GAP_PIXELS = 40;
  const REST_MS = 250;
  const MAX_BLANK_MS = 10_000;
  const ROW_PIXELS = 130;
  const list = /** @type {HTMLElement} */ (document.querySelector(".conv"));
  const { left, top, width, height } = list.getBoundingClientRect();
  const paint = () => new Promise((go) => requestAnimationFrame(() => setTimeout(go)));
  const rowAt = (/** @type {number} */ y) => document.elementFromPoint(left + width / 2, y)?.closest("article");
  const isFilledAt = (/** @type {number} */ part) =>
    [-GAP_PIXELS, 0, GAP_PIXELS].some((by) => rowAt(top + part * height + by));
  const count = Number(document.querySelector("article")?.getAttribute("aria-setsize"));
  const pixels = Math.ceil((count * ROW_PIXELS) / steps);
  let [blankMs, last] = [0, 0];
  for (let stuck = 0; stuck < 2;) {
    const before = list.scrollTop;
    const start = performance.now();
    list.scrollBy(0, pixels);
    do await paint();
    while (![0.2, 0.5, 0.8].every(isFilledAt) && performance.now() - start < MAX_BLANK_MS);
    blankMs = Math.max(blankMs, performance.now() - start);
    const rows = [...document.querySelectorAll("article")].map((row) => Number(row.getAttribute("aria-posinset")));
    last = Math.max(last, ...rows);
    stuck = list.scrollTop === before ? stuck + 1 : 0;
    if (stuck > 0) await new Promise((go) => setTimeout(go, REST_MS));
  }
  return { blankMs, last, count };
}

/** Types a text into the search field, and waits until its hits are painted. @param {string} text @returns {Promise<{ ms: number, told: string }>} */
export async function searchFor(text) {
  const field = /** @type {HTMLInputElement} */ (document.querySelector(".find input"));
  const start = performance.now();
  field.value = text;
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  await new Promise((go) => requestAnimationFrame(() => setTimeout(go)));
  const ms = performance.now() - start;
  return { ms, told: document.querySelector(".find")?.textContent?.replace(/\s+/g, " ").trim() ?? "" };
}
