// @ts-check
/**
 * Scrolls over more pixels than a browser lets an element be high: the element has a stretch of the list at most, and
 * another one is put under the reader when the scrolling rests, or when a place beyond it is asked for. To the list it is
 * the element that it scrolls.
 */

/** How high the stretch is: a quarter of what the strictest browser allows. */
export const MAX_STRETCH = 4_000_000;

/** The scrolling of an element. */
export class LongScroll {
  /** How far the stretch is below the beginning of the list. */
  base = 0;
  /** How high the list is. */
  total = 0;
  element;
  #maxStretch;

  /** @param {HTMLElement} element @param {number} [maxStretch] */
  constructor(element, maxStretch = MAX_STRETCH) {
    this.element = element;
    this.#maxStretch = maxStretch;
  }

  /** How high the stretch is that the element has to show. */
  get stretch() {
    return Math.min(this.#maxStretch, this.total - this.base);
  }

  /**
   * Where a row belongs in the element; one that is beyond the stretch, above it, where nobody scrolls.
   * @param {number} top @param {number} height
   */
  placeOf(top, height) {
    const place = top - this.base;
    return place > -height && place < this.stretch ? place : -2 * height;
  }

  get scrollTop() {
    return this.element.scrollTop + this.base;
  }

  get scrollHeight() {
    return this.element.scrollHeight + this.total - this.stretch;
  }

  get clientHeight() {
    return this.element.clientHeight;
  }

  get ownerDocument() {
    return this.element.ownerDocument;
  }

  get style() {
    return this.element.style;
  }

  /** @param {{ top: number }} to */
  scrollTo({ top }) {
    const isInside = top >= this.base && top + this.clientHeight <= this.base + this.stretch;
    if (!isInside) this.#placeAround(top);
    this.element.scrollTop = top - this.base;
  }

  /** @param {[string, EventListener, AddEventListenerOptions?]} given */
  addEventListener(...given) {
    this.element.addEventListener(...given);
  }

  /** @param {[string, EventListener]} given */
  removeEventListener(...given) {
    this.element.removeEventListener(...given);
  }

  /**
   * Puts the stretch around the reader, where one of its ends has come near and the list goes on.
   * @returns {(() => void) | undefined} what to do once the rows are where they belong: it moves the element back under
   *   the reader; nothing where all stays as it is
   */
  rest() {
    const { scrollTop } = this;
    const place = this.element.scrollTop;
    const near = this.#maxStretch / 4;
    const isNearEnd = place > this.#maxStretch - near && this.base + this.#maxStretch < this.total;
    const isNearStart = place < near && this.base > 0;
    if ((!isNearEnd && !isNearStart) || !this.#placeAround(scrollTop)) return undefined;
    return () => (this.element.scrollTop = scrollTop - this.base);
  }

  /** @param {number} top @returns {boolean} whether the stretch is another one now */
  #placeAround(top) {
    const { base } = this;
    const last = Math.max(this.total - this.#maxStretch, 0);
    this.base = Math.min(Math.max(Math.round(top - this.#maxStretch / 2), 0), last);
    return this.base !== base;
  }
}
