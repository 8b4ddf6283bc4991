// @ts-check
/** What operations of the component answer, as values. */

import { bytesOf } from "../../../component/host.mjs";

/** @import { Host } from "../../../component/host.mjs" */

/** @param {any} session */
export const placementOf = (session) => (session.path().endsWith(".session") ? "workspace" : "home");
/** @param {Promise<string>} answer */
export const json = async (answer) => JSON.parse(await answer);
/** @param {Promise<string>} answer */
export const awaitDone = async (answer) => void (await answer);
/**
 * @param {Host} host
 * @param {any} operation that gives pages
 * @param {Record<string, (asked: any) => any>} [own] what its caller does for it
 */
export async function texts(host, operation, own = {}) {
  /** @type {string[]} */
  const pages = [];
  await host.run(operation, { ...own, page: (content) => void pages.push(Buffer.from(bytesOf(content)).toString()) });
  return pages;
}

/** @param {Host} host @param {any} session @param {object} reading @returns {Promise<any[]>} */
export async function messages(host, session, reading) {
  return (await texts(host, session.messages(JSON.stringify(reading)))).flatMap((page) => JSON.parse(page));
}
