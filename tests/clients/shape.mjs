// @ts-check
/**
 * What a session's file is made of: its kinds of records, and its fields by their paths, each with the kinds of its
 * values. Of the values nothing is left. Paths are written as leftoff writes those of losses: the record's type first,
 * `[type]` for an item of that type in an array.
 */

/** @typedef {Map<string, { kinds: Set<string>, parent: string }>} Shape by path */
/** @typedef {{ path: string, kinds: string }} Field */

// Other keys are data: an id, a file's path, a command; or, in the schema of a tool, what the tool takes.
const NAME = /^[$_a-z][\w$-]{0,62}$/i;
const IN_SCHEMA = /\.properties$/;
const NUMBERED = /\d{3}|[0-9a-f]{8}/i;

/** @param {string} text a JSON document, or lines of JSON @returns {Shape} */
export function shapeOf(text) {
  /** @type {Shape} */
  const shape = new Map();
  for (const record of recordsOf(text)) add(shape, { path: labelOf(record), parent: "" }, record);
  return shape;
}

/**
 * What one file has that another one has not. Of what is new as a whole only the whole is named.
 * @param {Shape} before @param {Shape} after
 * @returns {{ added: Field[], removed: Field[], changed: Field[] }} `changed`: values of other kinds, with both
 */
export function compareShapes(before, after) {
  const changed = [...after].flatMap(([path, { kinds }]) => {
    const [was, is] = [describeKinds(before.get(path)?.kinds ?? kinds), describeKinds(kinds)];
    return was === is ? [] : [{ path, kinds: `${was}, now ${is}` }];
  });
  return { added: missing(before, after), removed: missing(after, before), changed };
}

/** What a shape has not of another one. @param {Shape} shape @param {Shape} other @returns {Field[]} */
function missing(shape, other) {
  const isMissing = (/** @type {string} */ path) => path !== "" && !shape.has(path);
  return [...other]
    .filter(([path, { parent }]) => isMissing(path) && !isMissing(parent))
    .map(([path, { kinds }]) => ({ path, kinds: describeKinds(kinds) }));
}

/** @param {string} text @returns {any[]} */
function recordsOf(text) {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  try {
    return lines.map((line) => JSON.parse(line));
  } catch {
    // A document over several lines.
    return [JSON.parse(text)];
  }
}

/** @param {any} record */
function labelOf(record) {
  const { type, subtype, payload, attachment, message } = record ?? {};
  if (typeof type !== "string") return "session";
  const inner = payload?.type ?? subtype ?? attachment?.type ?? (type === "message" ? message?.role : undefined);
  return typeof inner === "string" ? `${type}/${inner}` : type;
}

/** @param {Shape} shape @param {{ path: string, parent: string }} place @param {any} value */
function add(shape, { path, parent }, value) {
  const one = shape.get(path) ?? { kinds: new Set(), parent };
  shape.set(path, one);
  one.kinds.add(Array.isArray(value) ? "array" : value === null ? "null" : typeof value);
  if (Array.isArray(value))
    for (const item of value) add(shape, { path: `${path}[${kindOf(item)}]`, parent: path }, item);
  else if (typeof value === "object" && value !== null)
    for (const [key, inner] of Object.entries(value))
      add(shape, { path: `${path}.${nameOf(path, key)}`, parent: path }, inner);
}

/** @param {any} item of an array */
function kindOf(item) {
  const kind = item?.type ?? item?.role ?? item?.info?.role;
  return typeof kind === "string" && NAME.test(kind) ? kind : "";
}

/** @param {string} path of the object @param {string} key */
function nameOf(path, key) {
  return NAME.test(key) && !NUMBERED.test(key) && !IN_SCHEMA.test(path) ? key : "*";
}

/** @param {Set<string>} kinds */
function describeKinds(kinds) {
  return [...kinds].sort().join(" or ");
}
