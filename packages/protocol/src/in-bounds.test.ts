import { describe, expect, it } from "vitest";
import { z } from "zod";

import { hasAtMost, inBounds } from "./in-bounds.ts";

const rule = "table must have at most 3 numbers";
const Table = z.record(z.string(), z.number(rule), rule);
const Body = z.object({ table: inBounds(Table, hasAtMost(3), rule) });

const issuesOf = (table: unknown) => Body.safeParse({ table }).error?.issues;

describe("a value that is looked at first", () => {
  it("passes within its bounds", () => {
    expect(Body.parse({ table: { a: 1, b: 2, c: 3 } })).toEqual({ table: { a: 1, b: 2, c: 3 } });
    expect(Body.parse({ table: {} })).toEqual({ table: {} });
  });

  it.each([[{ a: 1, b: 2, c: 3, d: 4 }], ["table"], [undefined], [null], [{ a: "b" }]])(
    "is refused when it is %j",
    (table) => {
      expect(issuesOf(table)?.[0]).toMatchObject({ path: expect.arrayContaining(["table"]), message: rule });
    },
  );

  it("is one issue however many entries are wrong", () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [index, "a"]));
    expect(issuesOf(many)).toHaveLength(1);
  });

  it("is not handed to what compares fields when it is refused", () => {
    let compared = 0;
    const Compared = Body.superRefine(() => void (compared += 1));
    expect(Compared.safeParse({ table: { a: 1, b: 2, c: 3, d: 4 } }).success).toBe(false);
    expect(compared).toBe(0);
  });

  it("is what its schema says in a JSON schema", () => {
    const { properties, required } = z.toJSONSchema(Body, { io: "input" });
    expect(properties?.["table"]).toEqual(z.toJSONSchema(z.object({ table: Table })).properties?.["table"]);
    expect(required).toEqual(["table"]);
  });
});
