import type { ResponseObject } from "@ingle/protocol";
import { expect, expectTypeOf, test } from "vitest";

import { events, json } from "../test/misbehaving-server.ts";
import { serverAndClient } from "../test/server-and-client.ts";
import { outputText, ResponseStream } from "./responses.ts";

const body = { model: "tiny", input: "Hello" };
const text = (value: string) => ({ type: "output_text", text: value, annotations: [], logprobs: [] });
const sent = {
  id: "resp_1",
  object: "response",
  status: "completed",
  output: [
    { type: "reasoning", id: "rs_1", content: [{ type: "reasoning_text", text: "Hm." }] },
    { type: "message", id: "msg_1", role: "assistant", content: [text("Hel"), text("lo")] },
    { type: "function_call", id: "fc_1", call_id: "call_1", name: "greet", arguments: "{}" },
  ],
};

const event = (type: string, more: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
const delta = (value: string) => event("response.output_text.delta", { delta: value });
const created = event("response.created", { response: { ...sent, status: "in_progress", output: [] } });
const completed = event("response.completed", { response: sent });
const whole = [created, delta("Hel"), delta("lo"), completed];

const { server, client } = await serverAndClient();

async function openStream(...parts: string[]): Promise<ResponseStream> {
  server.respond(events(...parts));
  return await client.responses.stream(body);
}

test("returns a complete response or a stream, by the body's stream field", async () => {
  server.respond(json(sent));
  const response = await client.responses.create(body);
  expect(response).toEqual(sent);
  expect(outputText(response)).toBe("Hello");
  expect(server.seen[0]).toMatchObject({ method: "POST", url: "/v1/responses", body: JSON.stringify(body) });
  const { create } = client.responses;
  expectTypeOf(() => create(body)).returns.resolves.toEqualTypeOf<ResponseObject>();
  expectTypeOf(() => create({ ...body, stream: true })).returns.resolves.toEqualTypeOf<ResponseStream>();
});

test("the events of a stream have their types, and the last one has the response", async () => {
  const types: string[] = [];
  for await (const each of await openStream(...whole)) {
    types.push(each.type);
    if (each.type === "response.output_text.delta") expectTypeOf(each.delta).toEqualTypeOf<string>();
  }
  expect(types).toEqual([
    "response.created",
    "response.output_text.delta",
    "response.output_text.delta",
    "response.completed",
  ]);
  expect(await (await openStream(...whole)).finalResponse()).toEqual(sent);
  expect(await (await openStream(...whole)).finalText()).toBe("Hello");
});

test("texts() yields only the pieces of the text", async () => {
  const texts: string[] = [];
  for await (const piece of (await openStream(...whole)).texts()) texts.push(piece);
  expect(texts).toEqual(["Hel", "lo"]);
});

test("a response that was cut by its limit is returned", async () => {
  const cut = { ...sent, status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
  const stream = await openStream(created, event("response.incomplete", { response: cut }));
  expect(await stream.finalResponse()).toEqual(cut);
});

test("leaving the loop at the last event keeps the complete response", async () => {
  const stream = await openStream(...whole);
  for await (const each of stream) if (each.type === "response.completed") break;
  expect(await stream.finalResponse()).toEqual(sent);
});

test("an end without the last event is an error, and so is a [DONE] without a response", async () => {
  const cut = await openStream(created, delta("Hel"));
  await expect(cut.finalText()).rejects.toMatchObject({ code: "stream_incomplete" });
  const empty = await openStream(delta("Hel"), "data: [DONE]\n\n");
  await expect(empty.finalResponse()).rejects.toMatchObject({ code: "stream_invalid" });
});

test("an error within the stream is the server's error", async () => {
  const error = { message: "the engine stopped", type: "server_error", param: null, code: "engine_failed" };
  const failed = event("response.failed", { response: { ...sent, status: "failed" } });
  const stream = await openStream(created, failed, event("error", { ...error, error }));
  await expect(stream.finalText()).rejects.toMatchObject({ name: "StreamError", code: "engine_failed" });
});

test("data that are not an event are an error", async () => {
  for (const data of ["7", "{}", '{"type":"response.created","response":7}']) {
    const stream = await openStream(`data: ${data}\n\n`, completed);
    await expect(stream.finalText()).rejects.toMatchObject({ code: "stream_invalid" });
  }
});

test("is forwarded as the same bytes that the server sent, and read back from them", async () => {
  expect(await new Response((await openStream(...whole)).toReadableStream()).text()).toBe(whole.join(""));
  const again = ResponseStream.fromReadableStream((await openStream(...whole)).toReadableStream());
  expect(await again.finalResponse()).toEqual(sent);
});
