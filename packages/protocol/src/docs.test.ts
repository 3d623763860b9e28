// The page for people names every error code that the wire has. That the API's page names every field is a test of the
// server, which knows the routes.
import { readFile } from "node:fs/promises";

import { expect, test } from "vitest";

import { MessageStreamEvent } from "./anthropic/message.ts";
import { anthropicErrorType, isWireErrorCode, wireErrors } from "./errors.ts";
import { ResponsesEvent } from "./responses/events.ts";

const page = (name: string) => readFile(new URL(`../../../docs/${name}`, import.meta.url), "utf8");

test("docs/errors.md has one row for every error code with its status and type", async () => {
  const rows = (await page("errors.md")).split("\n").filter((line) => /^\| `\w+` \| \d/.test(line));
  const written = rows.map((row) =>
    row
      .split("|")
      .slice(1, 4)
      .map((cell) => cell.trim()),
  );
  const expected = Object.entries(wireErrors).map(([code, { status, type }]) => [
    `\`${code}\``,
    `${status}`,
    `\`${type}\``,
  ]);
  expect(new Set(written)).toEqual(new Set(expected));
});

test("docs/http-api.md names every event of a streamed response", async () => {
  const text = await page("http-api.md");
  const types = ResponsesEvent.options.map((event) => event.shape.type.value);
  expect(types).toContain("response.completed");
  expect(types.filter((type) => !text.includes(`\`${type}\``))).toEqual([]);
});

test("docs/errors.md names every code whose type is another one in Anthropic's shape", async () => {
  const rows = (await page("errors.md")).split("\n").flatMap((line) => {
    const [, codes = "", type = ""] = /^\| ([`\w, ]+) \| `(\w+)` \|$/.exec(line) ?? [];
    return codes.split(", ").map((code) => [code.replaceAll("`", ""), type]);
  });
  const written = rows.filter(([, type]) => type !== "");
  const differing = Object.entries(wireErrors).flatMap(([code, { type }]) => {
    const own = isWireErrorCode(code) ? anthropicErrorType(code) : type;
    return own === type ? [] : [[code, own]];
  });
  expect(new Set(written)).toEqual(new Set(differing));
});

test("docs/http-api.md shows every event of a streamed message", async () => {
  const text = await page("http-api.md");
  const types = MessageStreamEvent.options.map((event) => event.shape.type.value);
  expect(types).toContain("message_stop");
  expect(types.filter((type) => !text.includes(`event: ${type}\n`))).toEqual([]);
});
