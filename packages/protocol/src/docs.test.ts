// The pages for people name everything that the wire has: a code or a field that is added here must be written there.
import { readFile } from "node:fs/promises";

import { expect, test } from "vitest";

import { ChatCompletionRequest } from "./chat.ts";
import { Timings, Usage } from "./usage.ts";
import { wireErrors } from "./errors.ts";
import { ModelEntry } from "./models.ts";

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

test.each([
  ["the chat request", ChatCompletionRequest],
  ["usage", Usage],
  ["timings", Timings],
  ["a model entry", ModelEntry],
])("docs/http-api.md names every field of %s", async (_, schema) => {
  const text = await page("http-api.md");
  const missing = Object.keys(schema.shape).filter((field) => !text.includes(`\`${field}\``));
  expect(missing).toEqual([]);
});
