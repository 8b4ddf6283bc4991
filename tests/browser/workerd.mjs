// @ts-check
// A worker as a platform of the edge runs it: no disk, no process, and modules of WebAssembly that came with the
// worker.

import * as leftoff from "leftoff";
import { exercisePackage } from "./page.mjs";

export default {
  /** @param {Request} request */
  async fetch(request) {
    const { transcript, expected } = await request.json();
    const answer = await exercisePackage(leftoff, { transcript: new Uint8Array(transcript), expected }).then(
      () => "works",
      (error) => String(error.stack),
    );
    return new Response(answer);
  },
};
