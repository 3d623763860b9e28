import { expect, it } from "vitest";
import { newCallId } from "./call-id.ts";

it("names calls by nine letters and digits, each by others", () => {
  const ids = Array.from({ length: 2_000 }, newCallId);
  for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9]{9}$/);
  expect(new Set(ids).size).toBe(ids.length);
});
