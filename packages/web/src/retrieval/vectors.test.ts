import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { meanVector, packVectors, scoreByMeaning, toVector, unpackVectors } from "./vectors.ts";

const numbers = (size: number) =>
  fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: size, maxLength: size });

describe("scoreByMeaning", () => {
  it("puts the vector with the most similar direction first", () => {
    const vectors = [toVector([1, 0, 0]), toVector([0.2, 0.1, 0]), toVector([-3, 0, 0]), toVector([0, 0, 0])];
    const scores = scoreByMeaning(vectors, toVector([2, 1, 0]));
    expect(scores[1]).toBe(1);
    expect(scores[2]).toBe(0);
    expect(scores[0]).toBeGreaterThan(scores[3] ?? 1);
    expect(scoreByMeaning([toVector([1, 0])], toVector([1, 0]))).toEqual([0]);
  });
});

describe("packVectors", () => {
  it("keeps the model and every vector", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string(),
        fc.array(numbers(5), { minLength: 1, maxLength: 9 }),
        async (model, rows) => {
          const kept = { model, splitVersion: 1, vectors: rows.map(toVector) };
          expect(await unpackVectors(packVectors(kept))).toEqual(kept);
        },
      ),
    );
  });

  it("does not read anything else", async () => {
    for (const other of ["", "\n", "{}\n", '{"model":"m","splitVersion":1,"size":0}\nabc', "an image"])
      expect(await unpackVectors(new Blob([other]))).toBeUndefined();
  });
});

it("meanVector is the direction between the parts", () => {
  expect(
    meanVector([
      [1, 0],
      [0, 1],
    ]),
  ).toEqual([0.5, 0.5]);
});
