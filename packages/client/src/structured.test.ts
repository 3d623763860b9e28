import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import * as mini from "zod/mini";

import { events, json } from "../test/misbehaving-server.ts";
import { serverAndClient } from "../test/server-and-client.ts";
import { IngleError, ParseError } from "./errors.ts";
import { withJsonSchema } from "./schema.ts";
import type { ValueSchema } from "./schema.ts";
import { jsonFormat, parseReply } from "./structured.ts";

const body = { model: "tiny", messages: [{ role: "user" as const, content: "Hello" }] };
const Person = z.object({
  name: z.string(),
  born: z.string().transform((text) => Number(text)),
  address: z.object({ city: z.string() }).optional(),
});

const { server, client } = await serverAndClient();

function respond(content: string | null, finish_reason = "stop"): void {
  server.respond(
    json({ choices: [{ index: 0, message: { role: "assistant", content }, finish_reason }], usage: {} }),
  );
}

async function catchFailure<Value>(schema: ValueSchema<Value>): Promise<unknown> {
  return await client.chat.completions.parse(body, schema).catch((error: unknown) => error);
}

test("returns the schema's value of the reply, with its type, and the reply itself", async () => {
  respond('{"name":"Ada","born":"1815"}');
  const { value, completion } = await client.chat.completions.parse(body, Person);
  expectTypeOf(value).toEqualTypeOf<z.infer<typeof Person>>();
  expect(value).toEqual({ name: "Ada", born: 1815 });
  expect(completion.choices[0]?.message.content).toBe('{"name":"Ada","born":"1815"}');
});

test("sends the JSON schema of the schema's input, with the given name and strictness", async () => {
  respond('{"name":"Ada","born":"1815"}');
  await client.chat.completions.parse(body, Person, { name: "person", strict: true });
  const { json_schema } = JSON.parse(server.seen[0]?.body ?? "").response_format;
  expect(json_schema).toMatchObject({ name: "person", strict: true });
  expect(json_schema.schema).toMatchObject({
    type: "object",
    properties: { name: { type: "string" }, born: { type: "string" } },
    required: ["name", "born"],
  });
  expect(jsonFormat(Person)).toMatchObject({ type: "json_schema", json_schema: { name: "reply" } });
});

test("a reply that was cut by its token limit is an error with that code and the text", async () => {
  for (const text of ['{"name":"Ad', ""]) {
    respond(text, "length");
    const failure = await catchFailure(Person);
    expect(ParseError.is(failure)).toBe(true);
    expect(failure).toMatchObject({ code: "reply_cut", text, issues: [] });
  }
  // A truncated 1815 is a number too.
  respond("181", "length");
  expect(await catchFailure(z.number())).toMatchObject({ code: "reply_cut", text: "181" });
});

test("a value that was complete before the limit is returned", async () => {
  respond('{"name":"Ada","born":"1815"}', "length");
  expect((await client.chat.completions.parse(body, Person)).value.name).toBe("Ada");
});

test("a reply that does not match is an error with the issues and the text", async () => {
  const text = '{"name":5,"born":"1815","address":{}}';
  respond(text);
  const failure = await catchFailure(Person);
  expect(failure).toMatchObject({ code: "reply_mismatch", text });
  expect(failure).toMatchObject({ message: expect.stringMatching(/name: .*; address\.city: /) });
  expect(ParseError.is(failure) ? failure.issues.map(({ path }) => path) : []).toEqual([
    ["name"],
    ["address", "city"],
  ]);
});

test("a reply that is not JSON is an error with the text", async () => {
  for (const text of ["Sure! {}", "", null]) {
    respond(text);
    expect(await catchFailure(Person)).toMatchObject({ code: "reply_not_json", text: text ?? "" });
  }
});

test("a schema that cannot be converted is combined with a JSON schema", async () => {
  const City = mini.object({ city: mini.string() });
  const joined = withJsonSchema(City, z.toJSONSchema(City));
  respond('{"city":"Rome"}');
  const { value } = await client.chat.completions.parse(body, joined);
  expectTypeOf(value).toEqualTypeOf<{ city: string }>();
  expect(value).toEqual({ city: "Rome" });
  expect(JSON.parse(server.seen[0]?.body ?? "").response_format.json_schema.schema.required).toEqual([
    "city",
  ]);
  const older = { "~standard": { validate: City["~standard"].validate } } as ValueSchema<unknown>;
  expect(() => jsonFormat(older)).toThrow(IngleError);
});

test("a stream's completion can be parsed as a value", async () => {
  const part = (delta: object, finish_reason: string | null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const text = ['{"name":"Ada",', '"born":"1815"}'];
  server.respond(
    events(...text.map((content) => part({ content }, null)), part({}, "stop"), "data: [DONE]\n\n"),
  );
  const stream = await client.chat.completions.stream({ ...body, response_format: jsonFormat(Person) });
  expect(await parseReply(await stream.finalCompletion(), Person)).toEqual({ name: "Ada", born: 1815 });
});

test("a request for several choices cannot be parsed as a value", () => {
  // @ts-expect-error: one value comes from one choice
  expectTypeOf(client.chat.completions.parse).toBeCallableWith({ ...body, n: 2 }, Person);
});
