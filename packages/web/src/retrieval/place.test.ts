import { expect, it } from "vitest";

import { placeOf } from "./place.ts";

const rangeOf = (text: string, part: string) => ({
  start: text.indexOf(part),
  end: text.indexOf(part) + part.length,
});

it("counts lines", () => {
  const text = "one\ntwo\nthree\nfour\n";
  expect(placeOf(text, rangeOf(text, "one"))).toEqual({ unit: "line", first: 1, last: 1, of: 4 });
  expect(placeOf(text, rangeOf(text, "two\nthree"))).toEqual({ unit: "line", first: 2, last: 3, of: 4 });
});

it("counts pages where there are any, blank ones too", () => {
  const text = "one\nline\f\ftwo\fthree\f";
  expect(placeOf(text, rangeOf(text, "line"))).toEqual({ unit: "page", first: 1, last: 1, of: 4 });
  expect(placeOf(text, rangeOf(text, "two\fthree"))).toEqual({ unit: "page", first: 3, last: 4, of: 4 });
});
