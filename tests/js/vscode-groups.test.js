// @ts-check
// Tries: js/vscode/session-groups.js, js/vscode/texts.js

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { groupSessions } from "../../js/vscode/session-groups.js";
import { formatAge, sayAge } from "../../js/vscode/texts.js";

/** @param {Partial<import("../../js/index.js").Listed>} fields */
const listed = (fields) =>
  /** @type {import("../../js/index.js").Listed} */ ({ id: "one", status: "active", ...fields });

test("each session is in one group, and the order of sessions stays", () => {
  const time = fc.date({ min: new Date("2024-01-01"), max: new Date("2026-11-29"), noInvalidDate: true });
  const one = fc.record({
    id: fc.uuid(),
    lastActive: time.map((date) => date.toISOString()),
    agent: fc.constantFrom(undefined, "codex", "pi"),
    project: fc.constantFrom(undefined, "/a/one", "/b/one", "/c"),
    status: fc.constantFrom("active", "paused", "completed"),
  });
  const key = fc.constantFrom("day", "agent", "project", "status");
  fc.assert(
    fc.property(fc.array(one), key, (all, by) => {
      const newestFirst = all.map(listed).sort((a, b) => (a.lastActive < b.lastActive ? 1 : -1));
      const groups = groupSessions(newestFirst, /** @type {any} */ (by), new Date("2026-11-29T12:00:00Z"));
      const inGroups = groups.flatMap(({ sessions }) => sessions);
      assert.deepEqual(new Set(inGroups), new Set(newestFirst));
      assert.equal(inGroups.length, newestFirst.length);
      assert.equal(new Set(groups.map(({ id }) => id)).size, groups.length);
      for (const { sessions } of groups)
        assert.deepEqual(
          sessions,
          newestFirst.filter((session) => sessions.includes(session)),
        );
      // Days follow each other, so that their groups, one behind the other, are the list itself.
      if (by === "day") assert.deepEqual(inGroups, newestFirst);
    }),
  );
});

test("a session of this morning is of today, and one of last night is of yesterday", () => {
  const now = new Date(2026, 10, 29, 0, 30);
  const at = (/** @type {Date} */ date) => listed({ lastActive: date.toISOString() });
  const groups = groupSessions([at(new Date(2026, 10, 29, 0, 5)), at(new Date(2026, 10, 28, 23, 55))], "day", now);
  assert.deepEqual(
    groups.map(({ label }) => label),
    ["Today", "Yesterday"],
  );
});

test("an age has one unit, the largest that it fills", () => {
  const now = new Date("2026-11-29T12:00:00Z");
  const ages = ["2026-11-29T11:59:30Z", "2026-11-29T11:15:00Z", "2026-11-29T06:00:00Z", "2026-11-23T12:00:00Z"];
  assert.deepEqual(
    ages.map((time) => formatAge(time, now)),
    ["now", "45min", "6h", "6d"],
  );
  assert.equal(formatAge("2025-11-20T12:00:00Z", now), "1y");
  const spoken = [...ages, "2025-11-20T12:00:00Z", "2026-11-29T11:00:00Z", "2026-11-29T13:00:00Z"];
  assert.deepEqual(
    spoken.map((time) => sayAge(time, now)),
    ["now", "45 minutes ago", "6 hours ago", "6 days ago", "1 year ago", "1 hour ago", "now"],
  );
});
