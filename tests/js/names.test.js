// @ts-check
// The lint for names tells a participle from a verb, sums a type's methods over its files, and finds circles however
// they are written.
// Tries: scripts/names.mjs
import assert from "node:assert/strict";
import { test } from "node:test";

import { countInCircles, countMethods, declaredConstants, isBare, isVagueConstant } from "../../scripts/names.mjs";

test("a participle or an adverb alone is no name; a verb, a noun and a verb with its object are", () => {
  for (const name of [
    "said",
    "told",
    "asked",
    "left",
    "Known",
    "Told",
    "beside",
    "here",
    "whole",
    "How",
    "within",
    "embedded",
  ])
    assert.ok(isBare(name), name);
  for (const name of [
    "read",
    "feed",
    "next",
    "of",
    "from",
    "split",
    "embed",
    "exceed",
    "Speed",
    "title",
    "said_by",
    "render_summary",
    "lastMessage",
    "askedBy",
    "Record",
    "put",
    "is",
  ])
    assert.ok(!isBare(name), name);
});

test("a constant says what it holds: no participle, adverb or degree alone, and no degree in place of MAX_", () => {
  const code = [
    "const LONGEST: usize = 80;",
    "pub(crate) static TELLING_WORDS: &[&str] = &[];",
    "    const LEAST_OF_BEST: f32 = 0.4;",
    "const MAX_TITLE_CHARS: usize = 80;",
    "export const KEPT = 32;",
    "const OF_CLIENT = /x/;",
    "const DIM = 2;",
    "const local = MOST;",
  ].join("\n");
  assert.deepEqual(declaredConstants(code).filter(isVagueConstant), ["LONGEST", "LEAST_OF_BEST", "KEPT", "OF_CLIENT"]);
  for (const name of ["MOST", "TOGETHER", "BEHIND", "BEFORE", "FEW", "NEAR", "SAID", "HIDING_PLACES"])
    assert.equal(isVagueConstant(name), name !== "HIDING_PLACES", name);
  for (const name of ["ALL", "COVERAGE", "FRAME", "MAX_ATTEMPTS", "READ_BYTES"])
    assert.ok(!isVagueConstant(name), name);
});

test("a type's methods are summed over its files and floors stay apart; a trait's methods are the trait's", () => {
  const counts = countMethods([
    {
      path: "operation/a.rs",
      text: "impl Store {\n    pub fn one(&self) {}\n    pub(crate) async fn two(&self) {}\n}\n\nimpl Clone for Store {\n    fn clone(&self) {}\n}\n",
    },
    {
      path: "operation/b/c.rs",
      text: "impl<S: Sink> Store<S> {\n    const fn three() {}\n}\n\n#[cfg(test)]\nmod tests {\n}\nimpl Store {\n    fn four() {}\n}\n",
    },
    { path: "fs/store.rs", text: "impl Store {\n    fn five() {}\n}\n" },
  ]);
  assert.deepEqual(Object.fromEntries(counts), { "operation::Store": 3, "fs::Store": 1 });
});

/** @param {Record<string, string>} files @param {number} expected */
function check(files, expected) {
  assert.equal(countInCircles(Object.entries(files).map(([path, text]) => ({ path, text }))), expected);
}

test("files that use each other are counted, by crate, self and super, in groups and through a third", () => {
  check({ "a/x.rs": "use crate::a::y::Y;", "a/y.rs": "use crate::a::x::X;", "a/z.rs": "use crate::a::x::X;" }, 2);
  check(
    {
      "a/x.rs": "use super::{y::{self, Y}, z::Z};",
      "a/y.rs": "",
      "a/z.rs": "use crate::{a::{x::X as Other}, b::B};",
      "b.rs": "",
    },
    2,
  );
  check(
    {
      "a/mod.rs": "use self::x::X;",
      "a/x.rs": "use super::y::deep::D;",
      "a/y/mod.rs": "",
      "a/y/deep.rs": "fn f() -> crate::a::Thing {}",
    },
    3,
  );
});

test("files of two floors, comments, tests and a file's own name are in no circle", () => {
  check({ "a/x.rs": "use crate::b::y::Y; use crate::a::x::Own;", "b/y.rs": "use crate::a::x::X;" }, 0);
  check({ "a/x.rs": "// use crate::a::y::Y;", "a/y.rs": "use crate::a::x::X;" }, 0);
  check(
    { "a/x.rs": "struct X;\n#[cfg(test)]\nmod tests {\n    use crate::a::y::Y;\n}\n", "a/y.rs": "use crate::a::x::X;" },
    0,
  );
});
