// LangGraph's graphs of a model and its tools with a real server, over chat completions and over responses.
import { HumanMessage, isAIMessage, SystemMessage, type BaseMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { modelId, type RealServer } from "../real-server.ts";
import { agentServer, cities, expectCachedPrompts, question, toolTurns, weatherText } from "./desk.ts";

let server: RealServer;
beforeAll(async () => {
  server = await agentServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const weather = tool(async () => weatherText, {
  name: "get_weather",
  description: "The weather of a city",
  schema: z.object({ city: z.enum(cities) }),
});

const messages = [new SystemMessage("Be brief."), new HumanMessage(question)];

/** Of every reply in a conversation. */
function listUsage(conversation: BaseMessage[]) {
  return conversation.filter(isAIMessage).map(({ usage_metadata: usage }) => ({
    prompt: usage?.input_tokens ?? 0,
    cached: usage?.input_token_details?.cache_read ?? 0,
  }));
}

describe.each([
  ["chat completions", false],
  ["responses", true],
])("LangGraph over %s", (_name, useResponsesApi) => {
  /** A graph whose model calls its tool in each of its first turns, and then writes a text. */
  function graph(maxTokens = 120) {
    const chat = new ChatOpenAI({
      model: modelId,
      apiKey: "anything",
      temperature: 0,
      maxTokens,
      maxRetries: 0,
      useResponsesApi,
      configuration: { baseURL: server.baseUrl },
    });
    return new StateGraph(MessagesAnnotation)
      .addNode("model", async ({ messages: conversation }, { signal }) => {
        const calls = conversation.filter((message) => message.getType() === "tool").length;
        // By its name: over responses, this package drops "required". Random weights write a text where they need not call.
        const tool_choice = calls < toolTurns ? weather.name : "auto";
        const bound = chat.bindTools([weather], { tool_choice, parallel_tool_calls: false });
        return { messages: [await bound.invoke(conversation, signal === undefined ? {} : { signal })] };
      })
      .addNode("tools", new ToolNode([weather]))
      .addEdge(START, "model")
      .addConditionalEdges("model", toolsCondition)
      .addEdge("tools", "model")
      .compile({ checkpointer: new MemorySaver() });
  }
  const thread = (thread_id: string) => ({ configurable: { thread_id } });

  it("takes several tool turns, each of which finds the previous prompt cached", async () => {
    const { messages: conversation } = await graph().invoke({ messages }, thread("a"));
    const kinds = conversation.map((message) => message.getType());
    const turn = ["ai", "tool"];
    expect(kinds).toEqual(["system", "human", ...Array.from({ length: toolTurns }, () => turn).flat(), "ai"]);
    expect(conversation.at(-1)?.text).not.toBe("");
    expectCachedPrompts(listUsage(conversation));
  });

  it("streams the tokens of the same turns", async () => {
    const running = graph();
    let pieces = 0;
    for await (const _piece of await running.stream({ messages }, { ...thread("b"), streamMode: "messages" }))
      pieces += 1;
    expect(pieces).toBeGreaterThan(20);
    const whole = await graph().invoke({ messages }, thread("c"));
    const { values } = await running.getState(thread("b"));
    expect(values.messages.at(-1).text).toBe(whole.messages.at(-1)?.text);
  });

  it("continues a kept conversation whose last reply was cut", async () => {
    const running = graph();
    await running.invoke({ messages }, thread("d"));
    const next = await running.invoke({ messages: [new HumanMessage("And now?")] }, thread("d"));
    expect(next.messages.at(-1)?.text).not.toBe("");
    expectCachedPrompts(listUsage(next.messages));
  });

  it("is cancelled", async () => {
    const controller = new AbortController();
    const ended = graph(3000).invoke({ messages }, { ...thread("e"), signal: controller.signal });
    const failed = expect(ended).rejects.toThrow();
    await expect.poll(() => server.model.stats().running).toBe(1);
    controller.abort();
    await failed;
    await expect.poll(() => server.model.stats().running).toBe(0);
  });
});
