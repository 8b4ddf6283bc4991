// @ts-check
/** The entries of a session of the Claude Agent SDK that two processes mirror. */

export const KEY = { projectKey: "-home-ann-project", sessionId: "7d1c5b1e-0f0e-4f43-9d6b-6d8f6b1c2a77" };

/** A prompt, and a title. @param {string} by @param {number} place @returns {any[]} */
export function batchOf(by, place) {
  const uuid = (/** @type {number} */ of) => `${by}-${of}`;
  const prompt = {
    type: "user",
    uuid: uuid(place),
    parentUuid: place === 0 ? null : uuid(place - 1),
    sessionId: KEY.sessionId,
    timestamp: new Date(1_795_000_000_000 + place * 1000).toISOString(),
    message: { role: "user", content: `${uuid(place)} ${"and so on ".repeat(place % 7)}`.trim() },
  };
  return [prompt, { type: "custom-title", customTitle: uuid(place), sessionId: KEY.sessionId }];
}
