// The conversations of coding agents with a real engine: the second turn finds the first one's prompt cached, a reply that was cut is
// sent back, and a closed connection ends the work.
import { AnthropicMessage, ChatCompletion, ResponseObject } from "@ingle/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { codingAgents, type CodingAgent } from "./coding-agents.ts";
import { agentServer } from "./foreign/desk.ts";
import { modelId, type RealServer } from "./real-server.ts";

/** What differs between the conventions. */
interface Convention {
  limit: string;
  required: object;
  /** The tokens of the prompt, and how many of them were cached. */
  usageOf: (reply: unknown) => { prompt: number; cached: number };
  /** What the agent sends after the turns of its first request and the reply to it. */
  continued: (first: object, reply: unknown) => object;
}

const goOn = { role: "user", content: "Go on." };
const cutCall = "The call was cut.";
const Messages = z.object({ messages: z.array(z.unknown()) });
const Input = z.object({ input: z.array(z.unknown()) });

const conventions: Record<string, Convention> = {
  "/v1/chat/completions": {
    limit: "max_completion_tokens",
    required: { tool_choice: "required" },
    usageOf: (reply) => {
      const { prompt_tokens: prompt, prompt_tokens_details: details } = ChatCompletion.parse(reply).usage;
      return { prompt, cached: details.cached_tokens };
    },
    continued: (first, reply) => {
      const messages = ChatCompletion.parse(reply).choices.map(({ message }) => message);
      const calls = messages.flatMap(({ tool_calls: each = [] }) => each);
      const results = calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: cutCall }));
      return { messages: [...Messages.parse(first).messages, ...messages, ...results, goOn] };
    },
  },
  "/v1/responses": {
    limit: "max_output_tokens",
    required: { tool_choice: "required" },
    usageOf: (reply) => {
      const { usage } = ResponseObject.parse(reply);
      return { prompt: usage?.input_tokens ?? 0, cached: usage?.input_tokens_details.cached_tokens ?? 0 };
    },
    continued: (first, reply) => {
      const { output } = ResponseObject.parse(reply);
      const results = output.flatMap((item) =>
        "call_id" in item ? [{ type: `${item.type}_output`, call_id: item.call_id, output: cutCall }] : [],
      );
      return { input: [...Input.parse(first).input, ...output, ...results, goOn] };
    },
  },
  "/v1/messages?beta=true": {
    limit: "max_tokens",
    required: { tool_choice: { type: "any" } },
    usageOf: (reply) => {
      const { input_tokens: computed, cache_read_input_tokens: cached } = AnthropicMessage.parse(reply).usage;
      return { prompt: computed + cached, cached };
    },
    continued: (first, reply) => {
      const { content } = AnthropicMessage.parse(reply);
      // A call that was cut is not part of the message, which may then be empty.
      const messages = content.length > 0 ? [{ role: "assistant", content }] : [];
      return { messages: [...Messages.parse(first).messages, ...messages, goOn] };
    },
  },
};

/** The tokens with which a prompt ends so that the assistant begins: a later prompt may have others in their place. */
const turnBeginMax = 8;

// The second template refuses system messages in the middle of a conversation.
describe.each(["Qwen-Qwen2.5-7B-Instruct", "Qwen3.5-4B"])("with the template of %s", (template) => {
  let server: RealServer;
  beforeAll(async () => {
    server = await agentServer(template);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  function send({ path, headers }: CodingAgent, body: object, signal?: AbortSignal): Promise<Response> {
    return fetch(new URL(path, server.baseUrl), {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ model: modelId, ...body }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  describe.each(Object.entries(codingAgents))("%s", (_name, agent) => {
    const convention = conventions[agent.path];
    if (convention === undefined) throw new Error(`No convention has the path ${agent.path}.`);
    const { limit, required, usageOf, continued } = convention;

    async function reply(body: object): Promise<unknown> {
      const response = await send(agent, {
        temperature: 0,
        ...body,
        [limit]: 12,
        stream: false,
        stream_options: null,
      });
      const whole: unknown = await response.json();
      expect([response.status, whole]).toEqual([200, expect.anything()]);
      return whole;
    }

    it("finds its first prompt cached in its second turn", async () => {
      const first = usageOf(await reply(agent.first));
      const second = usageOf(await reply(agent.second));
      expect(second.prompt).toBeGreaterThan(first.prompt);
      expect(second.cached).toBeGreaterThanOrEqual(first.prompt - turnBeginMax);
    });

    it.each([
      ["text", {}],
      ["call", required],
    ])("sends a %s that was cut back, and gets a reply", async (_what, choice) => {
      const first = { ...agent.first, ...choice };
      const cut = await reply(first);
      const next = usageOf(await reply({ ...first, ...continued(first, cut) }));
      expect(next.cached).toBeGreaterThanOrEqual(usageOf(cut).prompt - turnBeginMax);
    });

    it("is cancelled with its connection", async () => {
      const connection = new AbortController();
      const response = send(agent, agent.first, connection.signal).then((each) => each.text());
      response.catch(() => {}); // it is awaited below
      await expect.poll(() => server.model.stats().running).toBe(1);
      connection.abort();
      await expect(response).rejects.toThrow("abort");
      await expect.poll(() => server.model.stats().running).toBe(0);
    });
  });
});
