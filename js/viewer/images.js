// @ts-check
/** Images of a message: which are shown, and how large they are before they are decoded. */

/** @import { Attachment } from "../types/index.js" */

const IMAGE_TYPES = /^image\/(?:png|jpeg|gif|webp)$/;
/** How much of an image is looked at for its size: a JPEG may begin with 64 KiB of a camera's. */
const HEADER_CHARACTERS = 100_000;

/** @param {Attachment} attachment @returns {string | undefined} the address to show it from; none for other files */
export function imageUrl({ mime, data }) {
  return data !== undefined && IMAGE_TYPES.test(mime) && /^[\w+/=\s-]+$/.test(data)
    ? `data:${mime};base64,${data}`
    : undefined;
}

/** The bytes that a file in base64 has. @param {Attachment} attachment */
export const sizeOf = ({ data, bytes }) => bytes ?? Math.floor(((data ?? "").length * 3) / 4);

/**
 * Reads the size of an image from its header.
 * @param {Attachment} attachment
 * @returns {{ width: number, height: number } | undefined} in pixels
 */
export function imageSize({ mime, data = "" }) {
  const bytes = headerOf(data);
  if (!bytes) return undefined;
  const view = new DataView(bytes.buffer);
  const sizes = { "image/png": pngSize, "image/gif": gifSize, "image/jpeg": jpegSize, "image/webp": webpSize };
  try {
    return sizes[/** @type {"image/png"} */ (mime)]?.(view);
  } catch {
    return undefined;
  }
}

/** @param {string} data */
function headerOf(data) {
  try {
    return Uint8Array.from(atob(data.slice(0, HEADER_CHARACTERS)), (sign) => sign.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** @param {DataView} view */
const pngSize = (view) => ({ width: view.getUint32(16), height: view.getUint32(20) });
/** @param {DataView} view */
const gifSize = (view) => ({ width: view.getUint16(6, true), height: view.getUint16(8, true) });

/** @param {DataView} view */
function jpegSize(view) {
  for (let at = 2; ; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
  }
}

/** @param {DataView} view */
function webpSize(view) {
  const kind = String.fromCharCode(...[12, 13, 14, 15].map((at) => view.getUint8(at)));
  const low = (/** @type {number} */ at) => view.getUint16(at, true);
  if (kind === "VP8X") {
    const wide = (/** @type {number} */ at) => (low(at) | (view.getUint8(at + 2) << 16)) + 1;
    return { width: wide(24), height: wide(27) };
  }
  if (kind === "VP8 ") return { width: low(26) & 0x3fff, height: low(28) & 0x3fff };
  const bits = view.getUint32(21, true);
  return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
}
