// @ts-check
/**
 * Writes values as JSON for the core: the one place where it is decided what JSON cannot carry.
 *
 * `JSON.stringify` leaves out what it cannot write, or writes something else: `null` for NaN, `{}` for a Map. The
 * stored value would differ from the given one, silently. So each value is written as it is, or refused with its place.
 * A field that is `undefined` counts as absent; a value with a `toJSON` is written by that.
 */

import { LeftoffError } from "../error.js";

/** The deepest nesting of a value: writing takes some of the stack for each level, and the core reads less. */
const MAX_DEPTH = 1000;

/**
 * @typedef {object} Crossing
 * @property {string} [about] the value's name in an error
 * @property {boolean} [instances] instances of classes are written as their fields, as those of providers' own
 *   libraries
 *   are meant to be
 * @property {boolean} [bytes] bytes are written in base64, as providers' shapes have them
 *
 * The position of the writing: the keys that lead there, and the objects around it.
 * @typedef {{ crossing: Crossing, keys: (string | number)[], parents: object[] }} WritePosition
 */

/**
 * Writes a value as JSON; refuses what would read as another value.
 * @param {unknown} value @param {Crossing} [crossing] @returns {string}
 */
export function toJson(value, crossing = {}) {
  /** @type {WritePosition} */
  const at = { crossing, keys: [], parents: [] };
  try {
    return writeValue(value, at);
  } catch (cause) {
    // Thrown by a getter of the value's own, or a proxy: it is where the writing stopped.
    throw cause instanceof LeftoffError
      ? cause
      : jsonError(at, "one that cannot be read", { code: "invalid_json", cause });
  }
}

/**
 * `toJson` for values of megabytes: what is plain JSON is written by the engine, ten times as fast. Getters are then
 * called twice.
 * @param {unknown} value
 * @param {Crossing} [crossing]
 */
export function toJsonFast(value, crossing) {
  return isPlainJson(value, 0) ? JSON.stringify(value) : toJson(value, crossing);
}

/** @param {any} value @param {number} depth @returns {boolean} */
function isPlainJson(value, depth) {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return true;
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== "object" || depth === MAX_DEPTH || value.toJSON !== undefined) return false;
  if (Array.isArray(value)) {
    for (let place = 0; place < value.length; place += 1) if (!isPlainJson(value[place], depth + 1)) return false;
    if (Object.keys(value).length !== value.length) return false;
  } else {
    if (Object.getPrototypeOf(value) !== Object.prototype) return false;
    for (const key in value)
      if (typeof value[key] !== "string" && value[key] !== undefined && !isPlainJson(value[key], depth + 1))
        return false;
  }
  return Object.getOwnPropertySymbols(value).length === 0;
}

/** @param {unknown} value @param {WritePosition} at @returns {string} */
function writeValue(value, at) {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "number":
      if (!Number.isFinite(value)) break;
      // The only number that `String` writes as another one.
      return Object.is(value, -0) ? "-0" : String(value);
    case "boolean":
      return String(value);
    case "object":
      return value === null ? "null" : writeNested(value, at);
    case "function":
    case "bigint":
      if (convertsItself(value)) return writeConverted(value, at);
  }
  throw jsonError(at, describeValue(value), typeof value === "bigint" ? { code: "invalid_json" } : {});
}

/** @param {object} value @param {WritePosition} at */
function writeNested(value, at) {
  if (at.parents.includes(value)) throw jsonError(at, "one that holds itself", { code: "invalid_json" });
  if (at.parents.length === MAX_DEPTH) throw jsonError(at, `one that is nested deeper than ${MAX_DEPTH}`);
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return writeBytes(value, at);
  if (convertsItself(value)) return writeConverted(value, at);
  at.parents.push(value);
  const json = Array.isArray(value) ? writeArray(value, at) : writeObject(value, at);
  at.parents.pop();
  return json;
}

/** @param {unknown[]} array @param {WritePosition} at */
function writeArray(array, at) {
  const parts = [];
  for (let place = 0; place < array.length; place += 1) {
    at.keys.push(place);
    parts.push(writeValue(array[place], at));
    at.keys.pop();
  }
  const other = Object.keys(array).find((key, place) => key !== String(place));
  if (other !== undefined) throw jsonError(at, `an array that has "${other}", too`);
  return `[${parts.join(",")}]`;
}

/** @param {object} object @param {WritePosition} at */
function writeObject(object, at) {
  if (!isPlain(object) && !(at.crossing.instances && isTagged(object))) throw jsonError(at, describeValue(object));
  for (const symbol of Object.getOwnPropertySymbols(object)) {
    if (Object.prototype.propertyIsEnumerable.call(object, symbol))
      throw jsonError(at, `an object that has ${String(symbol)}`);
  }
  let json = "{";
  for (const key of Object.keys(object)) {
    at.keys.push(key);
    const value = /** @type {Record<string, unknown>} */ (object)[key];
    if (value !== undefined) json += `${json === "{" ? "" : ","}${JSON.stringify(key)}:${writeValue(value, at)}`;
    at.keys.pop();
  }
  return `${json}}`;
}

/** @param {ArrayBuffer | ArrayBufferView} value @param {WritePosition} at */
function writeBytes(value, at) {
  if (!at.crossing.bytes || (ArrayBuffer.isView(value) && !(value instanceof Uint8Array)))
    throw jsonError(at, describeValue(value));
  let binary = "";
  for (const byte of value instanceof Uint8Array ? value : new Uint8Array(value)) binary += String.fromCharCode(byte);
  return `"${btoa(binary)}"`;
}

/** @param {any} value */
function convertsItself(value) {
  return typeof value.toJSON === "function";
}

// Writes what `toJSON` gives, without calling a `toJSON` of that.
/** @param {any} value @param {WritePosition} at */
function writeConverted(value, at) {
  const given = value.toJSON(String(at.keys.at(-1) ?? ""));
  if (given === null || given === undefined) throw jsonError(at, `${describeValue(value)} that JSON has no value for`);
  if (typeof given !== "object" || at.parents.includes(value)) return writeValue(given, at);
  at.parents.push(value);
  const json = Array.isArray(given) ? writeArray(given, at) : writeObject(given, at);
  at.parents.pop();
  return json;
}

// True also for objects of another realm, which have another prototype: that one's own prototype is null in each.
/** @param {object} object */
function isPlain(object) {
  const prototype = Object.getPrototypeOf(object);
  return (prototype === null || Object.getPrototypeOf(prototype) === null) && isTagged(object);
}

// The language's own classes hold their content outside of fields: of a Map nothing would be written.
/** @param {object} object */
function isTagged(object) {
  return Object.prototype.toString.call(object) === "[object Object]";
}

/** @param {unknown} value */
function describeValue(value) {
  if (typeof value === "number" || value === undefined) return String(value);
  if (typeof value !== "object" || value === null) return `a ${typeof value}`;
  const name = Object.prototype.toString.call(value).slice(8, -1);
  const own = name === "Object" ? value.constructor?.name : name;
  return own ? `an instance of ${own}` : "an instance of a class";
}

// `invalid_json` for what JSON itself refuses; `invalid_request` for what it would change silently.
/**
 * @param {WritePosition} at
 * @param {string} found
 * @param {{ code?: import("../types/index.js").ErrorCode, cause?: unknown }} [why]
 */
function jsonError({ crossing: { about }, keys }, found, { code = "invalid_request", cause } = {}) {
  const path = keys
    .map((key, place) => (typeof key === "number" ? `[${key}]` : place === 0 ? key : `.${key}`))
    .join("");
  const message = `${about ? `${about}: ` : ""}expected a value that JSON can hold${path && ` for "${path}"`}, but found ${found} instead`;
  return new LeftoffError({ code, message, cause });
}
