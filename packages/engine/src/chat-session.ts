// A conversation with memory: each reply takes all earlier messages into account.
import { EngineError } from "./base/errors.ts";
import type { Generation } from "./generate/generation.ts";
import type { GenerationRequest } from "./generate/generation-request.ts";
import type { Message } from "./prompt/messages.ts";
import type { Model } from "./model.ts";
import { resultMessage, type SessionTool } from "./session-tools.ts";
import type { GenerationResult } from "./generate/generation-result.ts";

/** Rounds of tool calls that reply to one message. Enough for usual tasks; it ends the calls of a model that repeats itself. */
const usualToolRoundsMax = 25;

export type ChatSessionOptions = Omit<
  Extract<GenerationRequest, { messages: unknown }>,
  "messages" | "prompt" | "tools"
> & {
  /** The system message. Default: none. */
  system?: string | undefined;
  /** The tools that the model may call. The session runs them. Default: none. */
  tools?: readonly SessionTool[] | undefined;
  /**
   * How many replies to one message may call tools; the next one has to be text. A `toolChoice` that requires a call applies to the
   * first reply only. Default: 25.
   */
  toolRoundsMax?: number | undefined;
};

interface SendOptions {
  signal?: AbortSignal | undefined;
  /** Whether an aborted reply, as far as it came, becomes part of the conversation. Default: false. */
  keepStopped?: boolean | undefined;
}

export class ChatSession {
  readonly #model: Model;
  readonly #options: Omit<ChatSessionOptions, "system" | "tools" | "toolRoundsMax">;
  readonly #tools: readonly SessionTool[];
  readonly #toolRoundsMax: number;
  readonly #system: Message[];
  #messages: Message[];
  #busy = false;

  constructor(
    model: Model,
    { system, tools = [], toolRoundsMax = usualToolRoundsMax, ...options }: ChatSessionOptions = {},
  ) {
    this.#model = model;
    this.#options = options;
    this.#tools = tools;
    this.#toolRoundsMax = toolRoundsMax;
    this.#system = system === undefined ? [] : [{ role: "system", content: system }];
    this.#messages = [...this.#system];
  }

  /** All messages so far, the system message first. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** Removes all messages except the system message. */
  clear(): void {
    this.#messages = [...this.#system];
  }

  /**
   * Sends a user message and streams the reply; the generator returns the whole result. If the reply calls tools, they are run one
   * after another, and what the model replies to their results is streamed as well; the returned result is the last one. All of it
   * becomes part of the conversation only when that is complete: an aborted or failed reply leaves the conversation unchanged. With
   * `keepStopped`, the message and the text of an aborted reply stay in it, if there is any text; calls without all their results do not.
   * Throws `invalid_request` while another reply is running, and what `Model.generate()` throws.
   */
  async *send(content: string, options: SendOptions = {}): AsyncGenerator<string, GenerationResult> {
    if (this.#busy) {
      throw new EngineError(
        "invalid_request",
        "This session is still generating a reply. Wait for it, or create another session.",
      );
    }
    this.#busy = true;
    try {
      const conversation = this.#messages;
      const messages: Message[] = [...conversation, { role: "user", content }];
      const asked = messages.length;
      try {
        return yield* this.#reply(messages, options);
      } catch (error) {
        if (options.keepStopped !== true || options.signal?.aborted !== true) messages.length = 0;
        throw error;
      } finally {
        // What was replied is part of the conversation, unless that was cleared meanwhile.
        if (conversation === this.#messages && messages.length > asked) this.#messages = messages;
      }
    } finally {
      this.#busy = false;
    }
  }

  /**
   * Adds the replies and the results of their calls to the messages. Returns the last reply. If it throws, the text so far is the last
   * reply, and each call has its result.
   */
  async *#reply(messages: Message[], options: SendOptions): AsyncGenerator<string, GenerationResult> {
    for (let round = 0; ; round += 1) {
      const tools = this.#tools.map(({ run: _run, ...tool }) => tool);
      const request = { ...this.#options, messages, tools, toolChoice: this.#toolChoice(round) };
      const { signal } = options;
      const generation = this.#model.generate(request, { signal });
      const result = yield* streamText(generation, messages);
      const { text, reasoning, toolCalls, finishReason } = result;
      // Nor is a call run that the token limit cut off.
      if (finishReason !== "tool_calls" || round >= this.#toolRoundsMax) {
        messages.push({ role: "assistant", content: text });
        return result;
      }
      const results: Message[] = [];
      for (const call of toolCalls) results.push(await resultMessage(call, this.#tools, signal));
      messages.push({ role: "assistant", content: text, reasoning, toolCalls }, ...results);
    }
  }

  /** What requires a call applies to the first reply only: otherwise the calls would never end. */
  #toolChoice(round: number): ChatSessionOptions["toolChoice"] {
    const { toolChoice } = this.#options;
    if (round >= this.#toolRoundsMax) return "none";
    return round === 0 || toolChoice === "none" ? toolChoice : "auto";
  }
}

/** Streams the text of a generation. If that fails, the text so far becomes the last message. */
async function* streamText(
  generation: Generation,
  messages: Message[],
): AsyncGenerator<string, GenerationResult> {
  let text = "";
  try {
    for await (const chunk of generation) {
      text += chunk.text;
      yield chunk.text;
    }
    return await generation;
  } catch (error) {
    if (text !== "") messages.push({ role: "assistant", content: text });
    throw error;
  }
}
