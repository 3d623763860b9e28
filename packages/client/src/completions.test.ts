import type { Completion, CompletionChunk } from "@ingle/protocol";
import { expect, expectTypeOf, test } from "vitest";

import { events, json } from "../test/misbehaving-server.ts";
import { serverAndClient } from "../test/server-and-client.ts";
import { CompletionStream } from "./completion-stream.ts";

type Choice = CompletionChunk["choices"][number];

const body = { model: "tiny", prompt: "Once upon" };
const head = { id: "cmpl-1", object: "text_completion" as const, created: 7, model: "tiny" };
const done = "data: [DONE]\n\n";

const { server, client } = await serverAndClient();

function chunk(text: string, rest: Partial<Choice> = {}, more: object = {}): string {
  const choice = { index: 0, text, logprobs: null, finish_reason: null, ...rest };
  return `data: ${JSON.stringify({ ...head, choices: [choice], ...more })}\n\n`;
}

test("returns a complete completion or a stream, by the body's stream field", async () => {
  const whole = { ...head, choices: [{ index: 0, text: " a time", finish_reason: "length" }] };
  server.respond(json(whole));
  expect(await client.completions.create(body)).toEqual(whole);
  expect(server.seen[0]).toMatchObject({ method: "POST", url: "/v1/completions" });
  const { create } = client.completions;
  expectTypeOf(() => create(body)).returns.resolves.toEqualTypeOf<Completion>();
  expectTypeOf(() => create({ ...body, stream: true })).returns.resolves.toEqualTypeOf<CompletionStream>();
});

test("a stream's texts are those of the first choice, and it ends as a completion", async () => {
  const usage = { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 };
  const logprobs = (token: string, offset: number) => ({
    tokens: [token],
    token_logprobs: [-1],
    top_logprobs: [{ [token]: -1 }],
    text_offset: [offset],
  });
  const script = events(
    chunk(" a", { logprobs: logprobs(" a", 0) }),
    chunk(" b", { index: 1 }),
    chunk(" time", { logprobs: logprobs(" time", 2) }),
    chunk("", { index: 1, finish_reason: "stop" }),
    chunk("", { finish_reason: "length" }),
    `data: ${JSON.stringify({ ...head, choices: [], usage })}\n\n`,
    done,
  );
  server.respond(script);
  const stream = await client.completions.stream({ ...body, n: 2, logprobs: 1 });
  const texts: string[] = [];
  for await (const text of stream.texts()) texts.push(text);
  expect(texts).toEqual([" a", " time"]);
  expect(await stream.finalText()).toBe(" a time");
  expect(await stream.finalCompletion()).toMatchObject({
    ...head,
    usage,
    choices: [
      {
        index: 0,
        text: " a time",
        finish_reason: "length",
        logprobs: { tokens: [" a", " time"], token_logprobs: [-1, -1], text_offset: [0, 2] },
      },
      { index: 1, text: " b", finish_reason: "stop", logprobs: null },
    ],
  });
  expect(JSON.parse(server.seen[0]?.body ?? "")).toMatchObject({
    stream: true,
    stream_options: { include_usage: true },
  });
});

test("a stream can be forwarded and read back", async () => {
  server.respond(events(chunk(" a"), chunk(" time"), chunk("", { finish_reason: "length" }), done));
  const bytes = (await client.completions.stream(body)).toReadableStream();
  const again = CompletionStream.fromReadableStream(bytes);
  expectTypeOf(again).toEqualTypeOf<CompletionStream>();
  expect(await again.finalText()).toBe(" a time");
});

test("a stream with other data, or without an end, is an error", async () => {
  server.respond(events('data: {"choices":[{"index":0,"delta":{}}]}\n\n', done));
  const chat = await client.completions.stream(body);
  await expect(chat.finalText()).rejects.toMatchObject({ code: "stream_invalid" });
  for (const chunks of [[], [chunk(" a")]]) {
    server.respond(events(...chunks, done));
    const endless = await client.completions.stream(body);
    await expect(endless.finalCompletion()).rejects.toMatchObject({ code: "stream_invalid" });
  }
});
