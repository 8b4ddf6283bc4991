// @ts-check
/** Fetches in a page or a worker: only files of `pkg/`, only from where the caller says they are. */

/** @param {URL | string} url */
export async function fetchBytes(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`expected ${url}, but the server answered ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}
