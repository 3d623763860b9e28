import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";

import { events } from "../test/misbehaving-server.ts";
import type { Script } from "../test/misbehaving-server.ts";
import { serverAndClient } from "../test/server-and-client.ts";
import { ToolRoundsError } from "./errors.ts";
import { runTools, tool } from "./run-tools.ts";
import type { RunnableTool, RunToolsOptions } from "./run-tools.ts";

const body = { model: "tiny", messages: [{ role: "user" as const, content: "Weather?" }] };

const { server, client } = await serverAndClient();

const run = (tools: RunnableTool[], options?: RunToolsOptions) =>
  runTools(client.chat.completions, body, tools, options);

/** A streamed reply with tool calls or text. */
function reply(delta: object, finish_reason: string): Script {
  const chunks = [
    { choices: [{ index: 0, delta, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason }] },
  ];
  return events(...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), "data: [DONE]\n\n");
}

function calls(...made: [name: string, args: string][]): Script {
  const tool_calls = made.map(([name, text], index) => ({
    index,
    id: `call_${index}`,
    type: "function",
    function: { name, arguments: text },
  }));
  return reply({ tool_calls }, "tool_calls");
}

const says = (content: string): Script => reply({ content }, "stop");

/** The messages of the n-th request. */
const sent = (request: number) => JSON.parse(server.seen[request]?.body ?? "").messages;

const weather = tool({
  name: "weather",
  description: "The weather of a city",
  parameters: z.object({ city: z.string() }),
  run: ({ city }) => ({ city, sky: "clear" }),
});

test("runs the called tools and sends their results until the model calls none", async () => {
  server.respond(calls(["weather", '{"city":"Rome"}']), says("Clear."));
  const texts: unknown[] = [];
  const onChunk: RunToolsOptions["onChunk"] = ({ choices }) => texts.push(choices[0]?.delta.content);
  const { text, messages, completion } = await run([weather], { onChunk });
  expect(text).toBe("Clear.");
  expect(completion.choices[0].finish_reason).toBe("stop");
  expect(texts).toContain("Clear.");
  const [request] = [JSON.parse(server.seen[0]?.body ?? "")];
  expect(request.tools[0]).toMatchObject({
    type: "function",
    function: { name: "weather", parameters: { type: "object", required: ["city"] } },
  });
  expect(sent(1)).toEqual(messages.slice(0, 3));
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
  expect(messages[2]).toEqual({
    role: "tool",
    tool_call_id: "call_0",
    content: '{"city":"Rome","sky":"clear"}',
  });
  expect(body.messages).toHaveLength(1);
});

test("arguments have the type of their schema", () => {
  tool({
    name: "add",
    parameters: z.object({ a: z.number(), b: z.string().transform(Number) }),
    run: (args, { callId, signal }) => {
      expectTypeOf(args).toEqualTypeOf<{ a: number; b: number }>();
      expectTypeOf(callId).toEqualTypeOf<string>();
      expectTypeOf(signal).toEqualTypeOf<AbortSignal | undefined>();
    },
  });
  expect(weather.definition.function.name).toBe("weather");
});

test("runs the calls of one reply in parallel and sends their results in order", async () => {
  let release: () => void = () => {};
  const both = new Promise<void>((resolve) => (release = resolve));
  const parameters = z.object({});
  const first = tool({ name: "first", parameters, run: () => both.then(() => "one") });
  const second = tool({ name: "second", parameters, run: () => release() });
  server.respond(calls(["first", "{}"], ["second", "{}"]), says("Done."));
  await run([first, second]);
  expect(sent(1).slice(2)).toEqual([
    { role: "tool", tool_call_id: "call_0", content: "one" },
    { role: "tool", tool_call_id: "call_1", content: "" },
  ]);
});

test("the model gets the error of a failed call and continues", async () => {
  const broken = tool({
    name: "broken",
    parameters: z.object({}),
    run: () => {
      throw new Error("the station is closed");
    },
  });
  server.respond(
    calls(
      ["broken", "{}"],
      ["nowhere", "{}"],
      ["weather", '{"city":5}'],
      ["weather", "{oops"],
      ["weather", ""],
    ),
    says("Sorry."),
  );
  expect((await run([broken, weather])).text).toBe("Sorry.");
  const contents = sent(1)
    .slice(2)
    .map(({ content }: { content: string }) => content);
  expect(contents[0]).toBe("Error: the station is closed");
  expect(contents[1]).toBe('Error: unknown tool "nowhere"');
  for (const content of contents.slice(2)) expect(content).toMatch(/^Error: the arguments are wrong: /);
});

test("stops at its limit of rounds with the conversation so far", async () => {
  server.respond(calls(["weather", '{"city":"Rome"}']));
  const failure: unknown = await run([weather], { roundsMax: 3 }).catch((error: unknown) => error);
  expect(ToolRoundsError.is(failure)).toBe(true);
  expect(failure).toMatchObject({ roundsMax: 3, messages: { length: 7 } });
  expect(server.seen).toHaveLength(3);
});

test("requires a call only once, because otherwise the calls would never end", async () => {
  server.respond(calls(["weather", '{"city":"Rome"}']), says("Clear."));
  await runTools(client.chat.completions, { ...body, tool_choice: "required" }, [weather]);
  expect(server.seen.map((request) => JSON.parse(request.body).tool_choice)).toEqual(["required", "auto"]);
});

test("a call that is cut off by the token limit is not run", async () => {
  let runs = 0;
  const counted = tool({ name: "weather", parameters: z.object({}), run: () => (runs += 1) });
  const cut = { tool_calls: [{ index: 0, id: "call_0", function: { name: "weather", arguments: "{" } }] };
  server.respond(reply(cut, "length"));
  expect((await run([counted])).completion.choices[0].finish_reason).toBe("length");
  expect(runs).toBe(0);
});

test("an abort ends the run with the signal's reason, within a tool too", async () => {
  const caller = new AbortController();
  const slow = tool({
    name: "slow",
    parameters: z.object({}),
    run: (_args, { signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener("abort", () => reject(new Error("the tool ended")), { once: true });
        caller.abort("enough");
      }),
  });
  server.respond(calls(["slow", "{}"]), says("never asked"));
  await expect(run([slow], { signal: caller.signal })).rejects.toBe("enough");
  expect(server.seen).toHaveLength(1);
});
