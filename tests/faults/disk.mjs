// @ts-check
/**
 * A disk that keeps no more than it must. Given what was asked of it up to a moment, the contents it may have when the
 * power comes back:
 *
 * - What a flush confirmed is there: of a file what was written before the flush began, of a folder the names.
 * - A name given or taken and not confirmed is there or is not, each for itself, whatever became of the others and of
 *   the bytes. After a rename the old name may be there too.
 * - Bytes written and not confirmed: the file ends where it did, behind any of the writes, or at a sector inside one;
 *   where it grew, a sector has its bytes, those that it had after an earlier write, or zeros.
 */

/** @import { Entry, Inode, Name, Recording, Rename, Unname } from "./recorder.mjs" */
/** @import { chance } from "./tools.mjs" */

/**
 * @typedef {{ size: number, zeros: [number, number][] }} Shape how much of a file is there, and where it is zeros
 * @typedef {"lost" | "there" | "both"} Fate of a name; `both`: a rename that left the old name
 * @typedef {{ of: number | Inode, options: (Fate | Shape)[], draw: () => Fate | Shape }} Doubt
 *   what is not confirmed, the index of an entry or a file. Of its options the first is that all of it is lost, the
 *   second that all is there; `draw` gives any
 * @typedef {Map<number | Inode, Fate | Shape>} Choice
 * @typedef {{ files: Map<string, File>, folders: string[] }} Contents paths begin with a slash
 * @typedef {Shape & { inode: Inode }} File
 * @typedef {{ ends: number[], confirmed: number }} Growth where its writes end; how much of it is confirmed
 */

const SECTOR = 512;

/**
 * States after the first `end` entries: first each doubt by itself, in each way, beside a disk that kept all else and
 * one that kept nothing; then any mixture. The same state may come again.
 * @param {Recording} recording
 * @param {{ end: number, random: ReturnType<typeof chance>, mixtures: number }} options
 * @returns {Generator<Contents>}
 */
export function* crashStates(recording, { end, random, mixtures }) {
  const doubts = doubtsAt(recording.trace, end, random);
  /** @param {0 | 1} which @param {Doubt} [other] @param {Fate | Shape} [option] */
  const all = (which, other, option) => {
    /** @type {Choice} */
    const choice = new Map();
    for (const { of, options } of doubts) {
      const [lost = "lost", there = "there"] = options;
      choice.set(of, which === 0 ? lost : there);
    }
    if (other && option) choice.set(other.of, option);
    return diskOf(recording, end, choice);
  };
  yield all(1);
  if (doubts.length > 0) yield all(0);
  for (const doubt of doubts) {
    const [lost, there, ...others] = doubt.options;
    if (doubts.length > 1) {
      yield all(1, doubt, lost);
      yield all(0, doubt, there);
    }
    for (const option of others) {
      yield all(1, doubt, option);
      if (doubts.length > 1) yield all(0, doubt, option);
    }
  }
  for (let drawn = 0; doubts.length > 0 && drawn < mixtures; drawn += 1) {
    yield diskOf(recording, end, new Map(doubts.map((doubt) => [doubt.of, doubt.draw()])));
  }
}

/** @param {Entry[]} trace @param {number} end @param {ReturnType<typeof chance>} random @returns {Doubt[]} */
function doubtsAt(trace, end, random) {
  /** @type {Map<Inode, number>} */
  const confirmed = new Map();
  for (const entry of trace.slice(0, end)) {
    if (entry.kind === "sync") confirmed.set(entry.inode, Math.max(entry.upTo, confirmed.get(entry.inode) ?? 0));
  }
  const isConfirmed = (/** @type {Inode} */ inode, /** @type {number} */ index) => index < (confirmed.get(inode) ?? 0);
  /** @type {Doubt[]} */
  const doubts = [];
  /** @type {Map<Inode, Growth>} */
  const growths = new Map();
  trace.slice(0, end).forEach((entry, index) => {
    if (entry.kind === "write") {
      const growth = growths.get(entry.inode) ?? { ends: [], confirmed: 0 };
      if (isConfirmed(entry.inode, index)) growth.confirmed = entry.end;
      else growth.ends.push(entry.end);
      growths.set(entry.inode, growth);
    } else if (isOfNames(entry) && !isConfirmed(entry.folder, index)) {
      /** @type {Fate[]} */
      const options = entry.kind === "rename" ? ["lost", "there", "both"] : ["lost", "there"];
      doubts.push({ of: index, options, draw: () => /** @type {Fate} */ (options[random.below(options.length)]) });
    }
  });
  for (const [inode, growth] of growths) {
    if (growth.ends.length > 0)
      doubts.push({ of: inode, options: shapes(growth, random), draw: () => drawShape(growth, random) });
  }
  return doubts;
}

/** @param {Entry} entry @returns {entry is Name | Unname | Rename} */
function isOfNames(entry) {
  return entry.kind === "name" || entry.kind === "unname" || entry.kind === "rename";
}

/** The plain ones. @param {Growth} growth @param {ReturnType<typeof chance>} random @returns {Shape[]} */
function shapes({ ends, confirmed }, random) {
  const size = ends.at(-1) ?? confirmed;
  const starts = [confirmed, ...ends.slice(0, -1)];
  const sectors = sectorsBetween(confirmed, size);
  const inside = sectors.map(([start]) => start).filter((start) => start > confirmed);
  const torn =
    inside.length < 6
      ? inside
      : [inside[0], inside.at(-1), ...Array.from({ length: 4 }, () => inside[random.below(inside.length)])];
  const [first, last] = [sectors[0], sectors.at(-1)];
  return [
    { size: confirmed, zeros: [] },
    { size, zeros: [] },
    { size, zeros: [[confirmed, size]] },
    ...ends.slice(0, -1).map((end) => ({ size: end, zeros: [] })),
    ...torn.map((end = 0) => ({ size: end, zeros: [] })),
    // One write's bytes lost, not those before or behind it, as far as sectors allow.
    ...starts.map((start, at) => ({ size, zeros: withinOneWrite(start, ends[at] ?? size, size) })),
    ...(first && last && sectors.length > 1
      ? [
          { size, zeros: [first] },
          { size, zeros: [last] },
        ]
      : []),
  ];
}

/** Any. @param {Growth} growth @param {ReturnType<typeof chance>} random @returns {Shape} */
function drawShape({ ends, confirmed }, random) {
  const whole = ends.at(-1) ?? confirmed;
  const sizes = [
    confirmed,
    whole,
    whole,
    ends[random.below(ends.length)] ?? whole,
    Math.floor((confirmed + random.real() * (whole - confirmed)) / SECTOR) * SECTOR,
  ];
  const size = Math.max(confirmed, sizes[random.below(sizes.length)] ?? whole);
  // Few sectors lost as often as many.
  const share = random.below(3) === 0 ? 0 : random.real() ** 2;
  /** @type {[number, number][]} */
  const zeros = [];
  for (const [start, end] of sectorsBetween(confirmed, size)) {
    if (random.real() >= share) continue;
    const earlier = [start, ...ends.filter((at) => start < at && at < end)];
    zeros.push([earlier[random.below(earlier.length)] ?? start, end]);
  }
  return { size, zeros };
}

/** @param {number} start @param {number} end @returns {[number, number][]} */
function sectorsBetween(start, end) {
  /** @type {[number, number][]} */
  const sectors = [];
  for (let at = start; at < end;) {
    const next = Math.min(end, (Math.floor(at / SECTOR) + 1) * SECTOR);
    sectors.push([at, next]);
    at = next;
  }
  return sectors;
}

// The sector in which it begins still has what was there before; that in which it ends also lacks what came behind.
/** @param {number} start @param {number} end @param {number} size @returns {[number, number][]} */
function withinOneWrite(start, end, size) {
  return [[start, Math.min(size, Math.ceil(end / SECTOR) * SECTOR)]];
}

/**
 * The disk on which a choice fell; without one, all is there.
 * @param {Recording} recording
 * @param {number} [end]
 * @param {Choice} [choice]
 * @returns {Contents}
 */
export function diskOf({ trace, root }, end = trace.length, choice = new Map()) {
  /** @type {Map<Inode, Map<string, Inode>>} */
  const folders = new Map([[root, new Map()]]);
  /** @type {Map<Inode, number>} */
  const sizes = new Map();
  const namesIn = (/** @type {Inode} */ folder) =>
    folders.get(folder) ?? folders.set(folder, new Map()).get(folder) ?? new Map();
  for (const [index, entry] of trace.slice(0, end).entries()) {
    if (entry.kind === "write") sizes.set(entry.inode, entry.end);
    const fate = choice.get(index) ?? "there";
    if (!isOfNames(entry) || fate === "lost") continue;
    const names = namesIn(entry.folder);
    if (entry.kind === "unname") names.delete(entry.name);
    else names.set(entry.name, entry.inode);
    if (entry.kind === "rename" && fate === "there") names.delete(entry.from);
    if (entry.kind === "rename" && fate === "both") names.set(entry.from, entry.inode);
  }
  /** @type {Contents} */
  const contents = { files: new Map(), folders: [] };
  const walk = (/** @type {Inode} */ folder, /** @type {string} */ path) => {
    for (const [name, inode] of namesIn(folder)) {
      const at = `${path}/${name}`;
      if (inode.names) {
        contents.folders.push(at);
        walk(inode, at);
      } else {
        const shape = choice.get(inode);
        const { size, zeros } = typeof shape === "object" ? shape : { size: sizes.get(inode) ?? 0, zeros: [] };
        contents.files.set(at, { inode, size, zeros });
      }
    }
  };
  walk(root, "");
  return contents;
}

/** @param {File} file */
export function bytesOf({ inode: { content }, size, zeros }) {
  if (zeros.length === 0) return content.subarray(0, size);
  const bytes = content.slice(0, size);
  for (const [start, end] of zeros) bytes.fill(0, start, end);
  return bytes;
}
