import { expect, it } from "vitest";

import { toPlace } from "./split-text.ts";

const findRange = (text: string, part: string) => ({
  start: text.indexOf(part),
  end: text.indexOf(part) + part.length,
});

it("counts lines", () => {
  const text = "one\ntwo\nthree\nfour\n";
  expect(toPlace(text, findRange(text, "one"))).toEqual({ unit: "line", first: 1, last: 1, of: 4 });
  expect(toPlace(text, findRange(text, "two\nthree"))).toEqual({ unit: "line", first: 2, last: 3, of: 4 });
});

it("counts pages where there are any, blank ones too", () => {
  const text = "one\nline\f\ftwo\fthree\f";
  expect(toPlace(text, findRange(text, "line"))).toEqual({ unit: "page", first: 1, last: 1, of: 4 });
  expect(toPlace(text, findRange(text, "two\fthree"))).toEqual({ unit: "page", first: 3, last: 4, of: 4 });
});
