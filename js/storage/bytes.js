// @ts-check

/** The end of a line. */
export const LINE_FEED = new Uint8Array([10]);

/** Joins byte arrays into one. @param {Uint8Array[]} parts */
export function joinBytes(parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
