import { describe, expect, it } from "vitest";
import { z } from "zod";

import { hasEntriesAtMost, sizePrecheck } from "./size-precheck.ts";

const rule = "table must have at most 3 numbers";
const Table = z.record(z.string(), z.number(rule), rule);
const Body = z.object({ table: sizePrecheck(Table, hasEntriesAtMost(3), rule) });

const findIssues = (table: unknown) => Body.safeParse({ table }).error?.issues;

describe("a value whose size is checked first", () => {
  it("passes within its bounds", () => {
    expect(Body.parse({ table: { a: 1, b: 2, c: 3 } })).toEqual({ table: { a: 1, b: 2, c: 3 } });
    expect(Body.parse({ table: {} })).toEqual({ table: {} });
  });

  it.each([[{ a: 1, b: 2, c: 3, d: 4 }], ["table"], [undefined], [null], [{ a: "b" }]])(
    "is refused when it is %j",
    (table) => {
      expect(findIssues(table)?.[0]).toMatchObject({
        path: expect.arrayContaining(["table"]),
        message: rule,
      });
    },
  );

  it("is one issue however many entries are wrong", () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [index, "a"]));
    expect(findIssues(many)).toHaveLength(1);
  });

  it("does not reach refinements of several fields if it is refused", () => {
    let compared = 0;
    const Compared = Body.superRefine(() => void (compared += 1));
    expect(Compared.safeParse({ table: { a: 1, b: 2, c: 3, d: 4 } }).success).toBe(false);
    expect(compared).toBe(0);
  });

  it("has the JSON schema of its schema", () => {
    const { properties, required } = z.toJSONSchema(Body, { io: "input" });
    expect(properties?.["table"]).toEqual(z.toJSONSchema(z.object({ table: Table })).properties?.["table"]);
    expect(required).toEqual(["table"]);
  });
});
