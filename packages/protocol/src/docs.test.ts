// The pages for people name everything that the wire has: a code or a field that is added here must be written there.
import { readFile } from "node:fs/promises";

import { expect, test } from "vitest";

import { ChatCompletionRequest } from "./chat.ts";
import { Timings, Usage } from "./usage.ts";
import { wireErrors } from "./errors.ts";
import { ModelEntry } from "./models.ts";
import { ResponsesAnswer, ResponsesUsage } from "./responses/answer.ts";
import { ResponsesEvent } from "./responses/events.ts";
import { ResponsesRequest } from "./responses/request.ts";

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
  ["the request for a response", ResponsesRequest],
  ["a response", ResponsesAnswer],
  ["a response's usage", ResponsesUsage],
])("docs/http-api.md names every field of %s", async (_, schema) => {
  const text = await page("http-api.md");
  const missing = Object.keys(schema.shape).filter((field) => !text.includes(`\`${field}\``));
  expect(missing).toEqual([]);
});

test("docs/http-api.md names every event of a streamed response", async () => {
  const text = await page("http-api.md");
  const types = ResponsesEvent.options.map((event) => event.shape.type.value);
  expect(types).toContain("response.completed");
  expect(types.filter((type) => !text.includes(`\`${type}\``))).toEqual([]);
});
