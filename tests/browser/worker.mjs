// @ts-check
// The same in a module worker, which has no import map: the package's address comes in its own.

import { early, exercisePackage } from "./page.mjs";

const address = String(new URL(location.href).searchParams.get("package"));

addEventListener("message", async ({ data }) => {
  const answer = await import(address)
    .then(async (leftoff) => (await early(leftoff), exercisePackage(leftoff, data)))
    .then(
      () => "works",
      (error) => String(error.stack),
    );
  postMessage(answer);
});
