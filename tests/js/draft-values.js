// @ts-check
/** Values that a caller without types may put anywhere into a draft, and what of them JSON has a value for. */

import fc from "fast-check";

class Instance {
  field = 1;
}

/** Each made anew: some can be looked at once only. @type {Record<string, () => unknown>} */
export const ODD = {
  null: () => null,
  undefined: () => undefined,
  NaN: () => NaN,
  Infinity: () => -Infinity,
  "a negative zero": () => -0,
  "a large number": () => 1e21,
  "a half": () => 0.5,
  "an empty string": () => "",
  "half of a pair": () => "\ud83d",
  "the other half": () => "x\udc00y",
  separators: () => "\u2028\u0085\n\0",
  "a long string": () => "long ".repeat(60_000),
  "a BigInt": () => 1n,
  "a symbol": () => Symbol("s"),
  "a function": () => () => 1,
  "a Map": () => new Map([["a", 1]]),
  "a Set": () => new Set([1]),
  "a date": () => new Date(0),
  "an invalid date": () => new Date(NaN),
  "an expression": () => /x/,
  "an error": () => new Error("x"),
  "a Buffer": () => Buffer.from("x"),
  "some bytes": () => new Uint8Array(2),
  "other bytes": () => new Float64Array(1),
  "a buffer of bytes": () => new ArrayBuffer(2),
  "an instance": () => new Instance(),
  "an heir": () => Object.create({ inherited: 1 }),
  "no prototype": () => Object.assign(Object.create(null), { a: 1 }),
  "a hole": () => [, 1],
  "undefined in an array": () => [undefined],
  "an array with a field": () => Object.assign([1], { more: 2 }),
  "a function in an object": () => ({ f() {} }),
  "undefined in an object": () => ({ a: undefined }),
  "a cycle": () => {
    /** @type {any} */
    const cycle = { list: [] };
    cycle.list.push(cycle);
    return cycle;
  },
  "the same twice": () => {
    const one = { a: 1 };
    return [one, one];
  },
  "what says itself how it is written": () => ({ toJSON: () => ({ a: 1 }) }),
  "what says that it is nothing": () => ({ toJSON: () => undefined }),
  "what says that it is null": () => ({ toJSON: () => null }),
  "what cannot say it": () => ({
    toJSON: () => {
      throw new Error("no");
    },
  }),
  "a getter": () => ({
    get a() {
      return 1;
    },
  }),
  "a getter that throws": () => ({
    get a() {
      throw new Error("no");
    },
  }),
  "a proxy that throws": () =>
    new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error("no");
        },
      },
    ),
  "a symbol as key": () => ({ [Symbol("s")]: 1 }),
  __proto__: () => JSON.parse('{"__proto__":{"a":1},"constructor":{"prototype":1}}'),
  "a String": () => new String("x"),
  "a promise": () => Promise.resolve(1),
  arguments: () =>
    (function () {
      return arguments;
    })(),
  "what is deep": () => JSON.parse(`${"[".repeat(120)}${"]".repeat(120)}`),
  "what is too deep": () => JSON.parse(`${"[".repeat(140)}${"]".repeat(140)}`),
  "what is far too deep": () => {
    /** @type {any} */
    let deep = {};
    for (let n = 0; n < 50_000; n += 1) deep = { deep };
    return deep;
  },
  "a blob": () => ({ blob: "0".repeat(64), bytes: 1, head: "", tail: "" }),
};

export const odd = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(...Object.keys(ODD)).map((name) => /** @type {() => unknown} */ (ODD[name])()),
  },
  { weight: 1, arbitrary: fc.jsonValue() },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
  {
    weight: 1,
    arbitrary: fc.anything({
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
      withSparseArray: true,
      withTypedArray: true,
      withBigInt: true,
    }),
  },
);

/** There is no value for it in JSON. */
export class NoJsonValue extends Error {}

/**
 * What JSON has for a value, worked out without writing any: a value that has none throws. What is undefined in an
 * object is not there.
 * @param {any} value @param {boolean} [isGiven] by a `toJSON`
 * @returns {any}
 */
export function image(value, isGiven = false) {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value !== "object" || value instanceof ArrayBuffer || ArrayBuffer.isView(value)) throw new NoJsonValue();
  if (!isGiven && typeof value.toJSON === "function") {
    const given = value.toJSON();
    if (given === null) throw new NoJsonValue();
    return image(given, true);
  }
  if (Array.isArray(value)) {
    if (Object.keys(value).length !== value.length) throw new NoJsonValue();
    return value.map((item) => image(item));
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) throw new NoJsonValue();
  if (String(value[Symbol.toStringTag] ?? "") !== "" || Object.getOwnPropertySymbols(value).length > 0)
    throw new NoJsonValue();
  /** @type {[string, any][]} */
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([key, field]) => [key, image(field)]));
}
