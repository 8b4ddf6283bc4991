// @ts-check
/**
 * Reads JSON as it is written, not as it is parsed: which keys are repeated, which numbers no double holds.
 * It does not recurse, so no depth of nesting fails; and what is no JSON is read as far as it goes.
 */

const QUOTE = '"';

/**
 * A string's value; as it stands where its escapes are invalid.
 * @param {string} text
 * @param {{ start: number, end: number }} place
 */
function parseString(text, { start, end }) {
  try {
    return String(JSON.parse(text.slice(start, end)));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return text.slice(start + 1, findStringEnd(text, start) === end ? end - 1 : end);
  }
}

/**
 * Finds the first thing that `JSON.parse` would change in a JSON text, for an error: of repeated keys in an object it
 * keeps one, and a number that no double holds becomes another one.
 * @param {string} text @returns {string | undefined}
 */
export function findParseLoss(text) {
  /**
   * What is open: which keys it has had, or at which item it is.
   * @type {{ keys?: Set<string>, at: string | number, isKey: boolean }[]}
   */
  const open = [];
  const path = () =>
    open.map(({ at }, depth) => (typeof at === "number" ? `[${at}]` : depth === 0 ? at : `.${at}`)).join("");
  const signs = /["{}[\],]|-?\d[\d.eE+-]*/g;
  for (let found = signs.exec(text); found; found = signs.exec(text)) {
    const [sign] = found;
    const within = open.at(-1);
    if (sign === QUOTE) {
      const end = findStringEnd(text, found.index) ?? text.length;
      signs.lastIndex = end;
      if (!within?.isKey) continue;
      within.at = parseString(text, { start: found.index, end });
      within.isKey = false;
      if (within.keys?.has(within.at)) return `"${path()}" twice`;
      within.keys?.add(within.at);
    } else if (sign === "{") open.push({ keys: new Set(), at: "", isKey: true });
    else if (sign === "[") open.push({ at: 0, isKey: false });
    else if (sign === "}" || sign === "]") open.pop();
    else if (sign !== ",") {
      if (!isSame(sign, String(Number(sign))))
        return `the number ${sign.slice(0, 40)} for "${path()}", which would be read as ${Number(sign)}`;
    } else if (within && typeof within.at === "number") within.at += 1;
    else if (within) within.isKey = true;
  }
  return undefined;
}

/** Whether two numbers, as they are written, are the same one. @param {string} one @param {string} other */
function isSame(one, other) {
  const [first, second] = [parseDecimal(one), parseDecimal(other)];
  return first.digits === second.digits && (first.digits === "" || first.power === second.power);
}

/** A number's digits without zeros around them, and the power of ten of the last one. @param {string} number */
function parseDecimal(number) {
  const [, whole = "", fraction = "", exponent = "0"] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const all = `${whole}${fraction}`;
  let end = all.length;
  while (all[end - 1] === "0") end -= 1;
  return {
    digits: all.slice(0, end).replace(/^0+/, ""),
    power: BigInt(exponent) - BigInt(fraction.length) + BigInt(all.length - end),
  };
}

/**
 * The place after a string's closing quote, if there is one.
 * @param {string} text
 * @param {number} start of the one that begins it
 */
function findStringEnd(text, start) {
  for (let quote = text.indexOf(QUOTE, start + 1); quote >= 0; quote = text.indexOf(QUOTE, quote + 1)) {
    let before = quote;
    while (text[before - 1] === "\\") before -= 1;
    if ((quote - before) % 2 === 0) return quote + 1;
  }
  return undefined;
}
