// @ts-check
/** What a page or a worker asks a server for: the files of pkg/ alone, where the caller says that they are. */

/** @param {URL | string} url */
export async function fetchBytes(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`expected ${url}, but the server answered ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}
