// @ts-check
/** Decodes base64 of deflated bytes, with the APIs that pages and workers have. */

/** @param {string} base64 @returns {Promise<Uint8Array<ArrayBuffer>>} */
export async function inflateBase64(base64) {
  const packed = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const bytes = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(bytes).arrayBuffer());
}
