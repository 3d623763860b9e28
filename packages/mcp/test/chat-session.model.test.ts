// Chat sessions with real models, whose tools are those of a real MCP server.
import { fileURLToPath } from "node:url";
import { ChatSession, load, type GenerationResult, type LoadedModel } from "@ingle/engine";
import { exactArithmetic, tinyModel, tinyVisionModel } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AskUser } from "../src/approvals.ts";
import { chatTools } from "../src/chat-tools.ts";
import { parseMcpConfig } from "../src/mcp-config.ts";
import { McpServers } from "../src/mcp-servers.ts";

const program = fileURLToPath(new URL("odd-server.js", import.meta.url));
const settings = { threads: 1, contextLength: 2048, ...exactArithmetic } as const;
/** Random weights call a tool only where they must. */
const sampling = {
  temperature: 0,
  maxTokens: 120,
  toolChoice: "required",
  parallelToolCalls: false,
} as const;

async function start(...tools: string[]): Promise<McpServers> {
  const odd = { command: process.execPath, args: [program, ...tools] };
  const servers = new McpServers(parseMcpConfig(JSON.stringify({ mcpServers: { odd } }), {}));
  await servers.started;
  return servers;
}

async function send(session: ChatSession, text: string): Promise<GenerationResult> {
  const reply = session.send(text);
  for (;;) {
    const { done, value } = await reply.next();
    if (done === true) return value;
  }
}

const toolMessages = (session: ChatSession) => session.messages.filter(({ role }) => role === "tool");

describe("a model that calls tools", () => {
  let loaded: LoadedModel;
  beforeAll(async () => {
    loaded = await load(await tinyModel({ vocabulary: "qwen2", contextLength: 8192 }), settings);
  });
  afterAll(() => loaded[Symbol.asyncDispose]());

  it("gets their results, in each of several turns", async () => {
    await using servers = await start("add");
    const asked: Parameters<AskUser>[0][] = [];
    const ask: AskUser = async (call) => {
      asked.push(call);
      return "once";
    };
    const session = new ChatSession(loaded.model, { ...sampling, tools: chatTools(servers, { ask }) });
    for (const question of ["One?", "Two?", "Three?"]) await send(session, question);
    expect(asked).toHaveLength(3);
    expect(toolMessages(session).map(({ content }) => content)).toEqual(
      asked.map(({ arguments: { a, b } }) => String(Number(a) + Number(b))),
    );
    const [, called] = session.messages;
    expect(called?.toolCalls?.[0]).toMatchObject({ name: "add" });
    expect(session.messages.map(({ role }) => role).slice(0, 4)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
    ]);
  });

  it("is told of a refusal", async () => {
    await using servers = await start("ping");
    const session = new ChatSession(loaded.model, {
      ...sampling,
      tools: chatTools(servers, { ask: async () => "no" }),
    });
    await send(session, "Ping it.");
    expect(toolMessages(session)).toMatchObject([{ content: "Error: The user did not allow this call." }]);
  });

  it("gets a failure as an error, no more text than its context holds, and no image that it cannot see", async () => {
    await using servers = await start("fail", "pictures", "long");
    const ask: AskUser = async () => "once";
    const contents: unknown[] = [];
    for (const [name, args] of [
      ["fail", {}],
      ["pictures", {}],
      ["long", { characters: 5_000 }],
    ] as const) {
      const tool = chatTools(servers, { ask, contextLength: 100 }).find((each) => each.name === name);
      contents.push(await tool?.run(args, { callId: "one", signal: undefined }));
    }
    expect(contents).toEqual([
      "Error:\nthere is no such city",
      "Here:\n[Left out: an image, which this model cannot see]",
      `${"x".repeat(100)}\n[Cut: the result has 5000 characters, of which these are the first 100.]`,
    ]);
  });
});

describe.each(["lfm2", "gemma3", "qwen2vl"] as const)("a model that sees, %s", (architecture) => {
  it("gets images of tools as image parts", async () => {
    const { model: file, projector } = await tinyVisionModel({ architecture, weights: "f32" });
    await using loaded = await load(file, { ...settings, mmproj: projector });
    await using servers = await start("pictures");
    const promptTokens: number[] = [];
    for (const readsImages of [true, false]) {
      const tools = chatTools(servers, { ask: async () => "once", readsImages });
      // Without parameters, random weights can only call it right.
      const bare = tools.map((tool) => ({ ...tool, parameters: { type: "object", properties: {} } }));
      const session = new ChatSession(loaded.model, { ...sampling, tools: bare });
      promptTokens.push((await send(session, "Show one.")).usage.promptTokens);
      const [result] = toolMessages(session);
      const image = { type: "image", image: { width: 8, height: 8 } };
      expect(result).toMatchObject(
        readsImages
          ? { content: [{ type: "text", text: "Here:" }, image] }
          : { content: "Here:\n[Left out: an image, which this model cannot see]" },
      );
    }
    expect(promptTokens[0]).not.toBe(promptTokens[1]);
  });

  it("gets a text in place of a file that is no image", async () => {
    await using servers = await start("pictures");
    const [tool] = chatTools(servers, { ask: async () => "once", readsImages: true });
    const content = await tool?.run({ data: "bm90IGFuIGltYWdl" }, { callId: "one", signal: undefined });
    expect(content).toMatch(/^Here:\n\[Left out: an image\. .+\]$/);
  });
});
