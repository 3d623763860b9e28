import { expect, it } from "vitest";

import { regenerate } from "./reference-pages.ts";

const part = (what: string): string => regenerate(`<!-- generated: ${what} -->\nold\n<!-- end -->\n`);

it("replaces what stands between the markers, and nothing else", () => {
  const text = regenerate("before\n<!-- generated: flags of ingle search -->\nold\n<!-- end -->\nafter\n");
  expect(text).toMatch(/^before\n<!-- generated: flags of ingle search -->\n\n\| flag /);
  expect(text).toContain("| `--limit <number>` | 20 | Maximum number of repositories to show. |");
  expect(text).toMatch(/\n\n<!-- end -->\nafter\n$/);
  expect(text).not.toContain("old");
  expect(regenerate(text)).toBe(text);
});

it.each([
  ["settings of ingle serve", "| `--port <number>` | `INGLE_PORT`, `PORT` | by variant |"],
  ["settings of ingle serve", "|  | `INGLE_REQUEST_TIMEOUT` | 5m |"],
  ["flags of ingle deploy modal", "| `--gpu <type>` | `INGLE_MODAL_GPU` | `L40S` |"],
  ["variants of ingle serve", "| `developer` | 1234 | 127.0.0.1 |"],
  ["commands of ingle", "| [`ingle pull <model>`](#ingle-pull) | Download a model |"],
  ["codes of errors", "| `unauthorized` | 401 | `authentication_error` |"],
])("writes the %s: %s", (what, row) => {
  expect(part(what)).toContain(row);
});

it("throws for a marker that nothing is generated for", () => {
  expect(() => part("jokes of ingle")).toThrow(/jokes of/);
  expect(() => part("flags of ingle sing")).toThrow(/no command "sing"/);
});
