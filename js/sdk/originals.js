// @ts-check
/**
 * A library's own message in a session: what of it no stored message has stands beside the first of them, in `source`,
 * and refers to the texts, arguments, results and files that they have.
 */

/** @import { Draft, ReadMessage } from "../types/index.js" */

/** The key of a reference: its value is what `takeValues` names. */
const REFERENCE = "leftoff:value";

/** A library whose messages are kept. @template {object} Original */
export class Originals {
  #agent;

  /** @param {string} agent the library's name, in the source of each record */
  constructor(agent) {
    this.#agent = agent;
  }

  /**
   * Adds to drafts the message that they are.
   * @param {string} id the library's of the message @param {Original} message @param {readonly Draft[]} drafts
   * @returns {(Draft & { source: any })[]}
   */
  attach(id, message, drafts) {
    const kept = packOriginal(message, drafts);
    return drafts.map((draft, place) => ({
      ...draft,
      source: { agent: this.#agent, id, ...(place === 0 && { message: kept }) },
    }));
  }

  /** The id of the library's message that a record belongs to. @param {ReadMessage} record */
  idOf({ source }) {
    return source?.agent === this.#agent ? source.id : undefined;
  }

  /** Whether a library's message begins with this record. @param {ReadMessage} record */
  isHead({ source }) {
    return source?.agent === this.#agent && "message" in source;
  }

  /** Whether a record goes on with the message of those before. @param {ReadMessage[]} records @param {ReadMessage} next */
  isSameMessage(records, next) {
    const [first] = records;
    return first !== undefined && this.isHead(first) && !this.isHead(next) && this.idOf(next) === this.idOf(first);
  }

  /**
   * The library's message that stored messages are.
   * @param {readonly ReadMessage[]} records those of one message, the first a head
   * @returns {Original}
   */
  restore(records) {
    return unpackOriginal(/** @type {any} */ (records[0]?.source).message, records);
  }
}

/**
 * A library's value as it stands beside the drafts that it is: with references to what they have.
 * @param {unknown} original @param {readonly Draft[]} drafts @returns {object}
 */
export function packOriginal(original, drafts) {
  const values = takeValues(drafts);
  const packed = pack(original, values);
  return isSameValue(unpack(packed, new Map(values)), original) ? packed : { whole: original };
}

/**
 * The value that `packOriginal` made something of.
 * @param {any} packed @param {readonly ReadMessage[]} records the stored messages that were its drafts
 */
export function unpackOriginal(packed, records) {
  return packed.whole ?? unpack(packed, new Map(takeValues(records)));
}

/**
 * The values in stored messages that the library's message has too, each with its name.
 * @param {readonly (Draft | ReadMessage)[]} drafts
 * @returns {[name: string, value: unknown][]}
 */
function takeValues(drafts) {
  return drafts.flatMap(({ content = "", assistant, tool, attachments = [] }, place) => {
    /** @type {[string, unknown][]} */
    const values = [[`${place}.content`, tool?.isJson ? parseJson(content) : content]];
    assistant?.reasoning?.forEach(({ text }, at) => values.push([`${place}.reasoning.${at}`, text]));
    assistant?.toolCalls?.forEach((call, at) => values.push([`${place}.call.${at}`, parseJson(call.arguments)]));
    attachments.forEach(({ mime, data }, at) => values.push([`${place}.file.${at}`, `data:${mime};base64,${data}`]));
    return values.filter(([, value]) => value !== undefined && value !== "");
  });
}

/** The value of some JSON; none where it is broken. @param {unknown} json */
export function parseJson(json) {
  try {
    return JSON.parse(String(json));
  } catch {
    return undefined;
  }
}

/** A value with references for what has a name. @param {any} value @param {[string, unknown][]} values @returns {any} */
function pack(value, values) {
  const isLong = typeof value === "string" ? value.length > 20 : typeof value === "object" && value !== null;
  const name = isLong && values.find(([, named]) => isSameValue(named, value))?.[0];
  if (name) return { [REFERENCE]: name };
  return mapInside(value, (inner) => pack(inner, values));
}

/** @param {any} packed @param {Map<string, unknown>} values @returns {any} */
function unpack(packed, values) {
  const name = Object(packed)[REFERENCE];
  if (name !== undefined) return values.get(name);
  return mapInside(packed, (inner) => unpack(inner, values));
}

/** @param {any} value @param {(inner: unknown) => unknown} change */
function mapInside(value, change) {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(change);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, change(inner)]));
}

/** Whether two values of JSON are equal, whatever the order of their keys. @param {any} one @param {any} other @returns {boolean} */
export function isSameValue(one, other) {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isSameValue(one[key], other[key]))
  );
}
