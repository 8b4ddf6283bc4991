// @ts-check
/** What is measured in the viewer's page: functions that run there, without anything from here. */

/** Before the page begins: notes when a session is asked for, and when its first messages are painted. */
export function noteFirstRow() {
  const times = /** @type {any} */ (globalThis).viewerTimes = { start: 0, firstRow: NaN };
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
 * @param {number} steps
 * @returns {Promise<{ blankMs: number, steps: number, last: number }>} `blankMs`: the longest time in which the middle of
 *   the list showed no message; `last`: the place of the last message that was seen
 */
export async function scrollOver(steps) {
  const list = /** @type {HTMLElement} */ (document.querySelector(".conv"));
  const { left, top, width, height } = list.getBoundingClientRect();
  const frame = () => new Promise((go) => requestAnimationFrame(go));
  const painted = () => new Promise((go) => requestAnimationFrame(() => setTimeout(go)));
  const rowAt = (/** @type {number} */ part) =>
    document.elementFromPoint(left + width / 2, top + height * part)?.closest("article");
  const rest = () => new Promise((go) => setTimeout(go, 250));
  const count = Number(document.querySelector("article")?.getAttribute("aria-setsize"));
  const average = list.scrollHeight / count;
  const pixels = Math.max((Math.min(list.scrollHeight, 4_000_000) / steps) * 1, average);
  let [blankMs, taken, last] = [0, 0, 0];
  for (let stuck = 0; stuck < 2 && taken < 20 * steps; taken += 1) {
    const before = list.scrollTop;
    const start = performance.now();
    list.scrollBy(0, pixels);
    do await painted();
    while (![0.3, 0.5, 0.7].every(rowAt));
    blankMs = Math.max(blankMs, performance.now() - start);
    last = Number(rowAt(0.5)?.getAttribute("aria-posinset"));
    await frame();
    stuck = list.scrollTop === before ? stuck + 1 : 0;
    if (stuck > 0) await rest();
  }
  return { blankMs, steps: taken, last };
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
