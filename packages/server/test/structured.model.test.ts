// Structured output over HTTP with a tiny model: whatever random weights write under a schema is JSON that matches it, and an
// unsupported grammar is refused with a sentence.
import { ChatCompletion, ChatCompletionChunk, Completion, ErrorBody } from "@ingle/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { modelId, realServer, user, type RealServer } from "./real-server.ts";

const person = {
  type: "object",
  properties: {
    name: { type: "string", maxLength: 12 },
    age: { type: "integer", minimum: 0, maximum: 130 },
    score: { type: "number", exclusiveMinimum: -1, maximum: 1 },
    tags: { type: "array", items: { enum: ["red", "größe", '"quoted"'] }, minItems: 1, maxItems: 3 },
    born: { type: "string", format: "date" },
    zip: { type: "string", pattern: String.raw`^\d{5}$` },
    address: { $ref: "#/$defs/address" },
    note: { anyOf: [{ type: "null" }, { type: "boolean" }, { const: "fine" }] },
  },
  required: ["name", "age", "tags", "address", "note"],
  additionalProperties: false,
  $defs: {
    address: {
      type: "object",
      properties: {
        city: { type: "string", minLength: 2, maxLength: 5 },
        next: { anyOf: [{ $ref: "#/$defs/address" }, { type: "null" }] },
      },
      required: ["city", "next"],
    },
  },
};

describe("structured output", () => {
  let server: RealServer;
  beforeAll(async () => {
    server = await realServer({ load: { contextLength: 1024, parallel: 4 } });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const withSchema = (schema: object, strict = true): object => ({
    messages: user("Write JSON."),
    response_format: { type: "json_schema", json_schema: { name: "answer", strict, schema } },
  });

  async function complete(body: object): Promise<ChatCompletion["choices"][number]> {
    const response = await server.post(body);
    expect(response.status).toBe(200);
    const choice = ChatCompletion.parse(await response.json()).choices[0];
    if (choice === undefined) throw new Error("no choice");
    return choice;
  }

  async function problem(body: object): Promise<ErrorBody["error"]> {
    const begin = performance.now();
    const response = await server.post({ messages: user("Hi"), max_tokens: 4, ...body });
    expect(performance.now() - begin).toBeLessThan(5_000);
    expect(response.status).toBe(400);
    const { error } = ErrorBody.parse(await response.json());
    expect(error.code).toBe("invalid_request");
    return error;
  }

  it("matches the schema, at any temperature and wherever it is cut", async () => {
    const check = z.fromJSONSchema(person as Parameters<typeof z.fromJSONSchema>[0]);
    const settings = [
      { temperature: 0 },
      { temperature: 1 },
      { top_k: 0 },
      { top_k: 3 },
      { top_p: 0.5, top_k: 0 },
      { min_p: 0.3, temperature: 2 },
    ];
    for (const [seed, sampling] of [...settings, ...settings].entries()) {
      const { message, finish_reason } = await complete({
        ...withSchema(person),
        seed,
        ...sampling,
        max_tokens: 800,
      });
      if (finish_reason === "length") continue;
      expect(() => check.parse(JSON.parse(message.content ?? ""))).not.toThrow();
    }
  });

  it("streams the same as in one piece", async () => {
    const body = { ...withSchema(person), seed: 5, max_tokens: 300 };
    const whole = await complete(body);
    const raw = await (await server.post({ ...body, stream: true })).text();
    const chunks = raw
      .split("\n\n")
      .filter((event) => event.startsWith("data: {"))
      .map((event) => ChatCompletionChunk.parse(JSON.parse(event.slice(6))));
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe(whole.message.content);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe(whole.finish_reason);
  });

  it("has the finish reason length when max_tokens cut it", async () => {
    const { message, finish_reason } = await complete({ ...withSchema(person), max_tokens: 3 });
    expect(finish_reason).toBe("length");
    expect(message.content).toMatch(/^\{/);
  });

  it("of json_object is any object", async () => {
    let whole = 0;
    for (let seed = 0; seed < 10; seed++) {
      const body = { messages: user("Hi"), response_format: { type: "json_object" }, seed, max_tokens: 300 };
      const { message, finish_reason } = await complete(body);
      expect(message.content).toMatch(/^\{/);
      if (finish_reason !== "stop") continue;
      whole += 1;
      expect(typeof JSON.parse(message.content ?? "")).toBe("object");
    }
    expect(whole).toBeGreaterThan(0);
  });

  it("follows a grammar to its end, without an end token", async () => {
    const grammar = 'root ::= ("yes" | "no") ", " [0-9]{3}\n';
    const { message, finish_reason } = await complete({
      messages: user("Hi"),
      grammar,
      ignore_eos: true,
      seed: 1,
    });
    expect(message.content).toMatch(/^(yes|no), \d{3}$/);
    expect(finish_reason).toBe("stop");
  });

  it.each([
    [
      "a schema",
      { json: { type: "object", properties: { a: { type: "boolean" } }, required: ["a"] } },
      /^\{\s*"a":\s*(true|false)\s*\}$/,
    ],
    ["a schema's text", { json: '{"enum": ["x", 7]}' }, /^("x"|7)$/],
    ["any object", { json_object: true }, /^\{/],
    ["a regular expression", { regex: String.raw`\d{3}-[a-c]{2}` }, /^\d{3}-[a-c]{2}$/],
    ["a choice", { choice: ["yes", 'no "never"', "größer"] }, /^(yes|no "never"|größer)$/],
    ["a grammar", { grammar: 'root ::= "<" [a-f]{4} ">"' }, /^<[a-f]{4}>$/],
  ])("follows vLLM's field: %s", async (_, structured_outputs, form) => {
    for (const seed of [1, 2, 3]) {
      const asked = { structured_outputs, seed, temperature: 2, max_tokens: 200 };
      const chat = await complete({ messages: user("Hi"), ...asked });
      expect(chat.message.content).toMatch(form);
      const response = await fetch(`${server.baseUrl}/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: modelId, prompt: "Hi", ...asked }),
      });
      expect(Completion.parse(await response.json()).choices[0]?.text).toMatch(form);
    }
  });

  it.each([
    [{}, "structured_outputs.json"],
    [{ choice: ["a"], regex: "a" }, "structured_outputs.choice"],
    [{ choice: [] }, "structured_outputs.choice"],
    [{ json: "no JSON" }, "structured_outputs.json"],
    [{ structural_tag: "{}" }, "structured_outputs.structural_tag"],
    [{ regex: "(?=a)b" }, "structured_outputs"],
    [{ regex: "(a" }, "structured_outputs"],
  ])("refuses what it cannot follow of vLLM's field: %j", async (structured_outputs, param) => {
    expect((await problem({ structured_outputs })).param).toBe(param);
  });

  it("refuses two forms, and a template of the request's own", async () => {
    const structured_outputs = { choice: ["a"] };
    const json = { type: "json_object" };
    expect((await problem({ structured_outputs, response_format: json })).param).toBe("structured_outputs");
    expect((await problem({ chat_template: "{{ messages }}" })).param).toBe("chat_template");
  });

  it("has the finish reason length if its grammar reaches a dead end", async () => {
    const grammar = 'root ::= "ab" [^\\U00000000-\\U0010FFFF]';
    const { message, finish_reason } = await complete({ messages: user("Hi"), grammar });
    expect([message.content, finish_reason]).toEqual(["ab", "length"]);
  });

  it("constrains several requests to different formats at once", async () => {
    const bodies = [2, 3, 4, 5].map((digits) => ({
      messages: user("Hi"),
      grammar: `root ::= [0-9]{${digits}}`,
      seed: digits,
    }));
    const choices = await Promise.all(bodies.map(complete));
    expect(choices.map(({ message }) => message.content?.length)).toEqual([2, 3, 4, 5]);
  });

  it("refuses grammars that are invalid or made to crash, names the field, and continues", async () => {
    const wrong = [
      "root ::= unknown",
      "no root here",
      'root ::= root "a"',
      'x ::= "a"',
      `root ::= ${"(".repeat(60_000)}"a"${")".repeat(60_000)}`,
      'root ::= ("a"?){1000000}',
      "root ::= [z-a]",
      "root ::= <no such token at all>",
      'root ::= "\u0000\\q"',
    ];
    for (const grammar of wrong) expect((await problem({ grammar })).param).toBe("grammar");
    expect(await complete({ messages: user("still here"), max_tokens: 2 })).toBeDefined();
  });

  it("refuses schemas that are invalid or made to crash, names the field, and continues", async () => {
    const nested = (depth: number): object =>
      Array.from({ length: depth }).reduce<object>((items) => ({ type: "array", items }), { type: "null" });
    const wrong = [
      { type: "string", pattern: "^(a$" },
      { type: "string", pattern: `^${"(".repeat(60_000)}a$` },
      { type: "string", pattern: "^[a$" },
      { type: "string", pattern: "*" },
      { type: "no such type" },
      { $ref: "#" },
      { $ref: "#/$defs/missing" },
      { enum: [] },
      nested(200),
      nested(1_000),
      { type: "integer", minimum: 2, maximum: 1 },
      { type: "object", properties: { a: { type: "string", maxLength: -1 } } },
      { type: "array", uniqueItems: true },
    ];
    for (const schema of wrong) expect((await problem(withSchema(schema))).param).toBe("response_format");
    expect(await complete({ messages: user("still here"), max_tokens: 2 })).toBeDefined();
  });

  it("refuses a schema that is all nested brackets, without recursing into it", async () => {
    const depth = 30_000; // a body of more than 65,536 values is refused for that alone
    const schema = `${'{"items":'.repeat(depth)}{}${"}".repeat(depth)}`;
    for (const field of [
      `"response_format":{"type":"json_schema","json_schema":{"schema":${schema}}}`,
      `"tools":[{"type":"function","function":{"name":"f","parameters":${schema}}}]`,
      `"chat_template_kwargs":${schema}`,
      `"unknown":${schema}`,
    ]) {
      const body = `{"model":"tiny","messages":[{"role":"user","content":"Hi"}],"max_tokens":2,${field}}`;
      const headers = { "content-type": "application/json" };
      const response = await fetch(`${server.baseUrl}/chat/completions`, { method: "POST", headers, body });
      expect([200, 400]).toContain(response.status);
      expect(response.status === 200).toBe(field.startsWith('"unknown"'));
      await response.text();
    }
  });

  it("accepts lengths and lists that other servers fail on", async () => {
    const long = {
      type: "object",
      properties: {
        text: { type: "string", maxLength: 1_000_000 },
        list: { type: "array", items: { type: "string", maxLength: 5_000 }, maxItems: 5_000 },
      },
      required: ["text", "list"],
    };
    expect((await complete({ ...withSchema(long), max_tokens: 5 })).finish_reason).toBe("length");
    const wide = {
      type: "object",
      properties: Object.fromEntries(
        Array.from({ length: 1_000 }, (_, index) => [`property_${index}`, { type: "boolean" }]),
      ),
    };
    expect((await complete({ ...withSchema(wide), max_tokens: 50 })).message.content).toMatch(/^\{/);
  });

  it("that is far too ambiguous ends, and does not delay others for long", async () => {
    const grammar = 'root ::= [a-z ] root "b" | [a-z ] root "c" | [a-z ] root "d" | "."';
    const [held, free] = await Promise.all([
      complete({ messages: user("Hi"), grammar, max_tokens: 200 }),
      complete({ messages: user("Hello"), max_tokens: 20 }),
    ]);
    expect(held.finish_reason).toBe("length");
    expect(free.message.content).not.toBe("");
  });
});
