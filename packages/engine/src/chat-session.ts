// A conversation with memory: each reply takes all earlier messages into account.
import { EngineError } from "./errors.ts";
import type { GenerationResult } from "./generation.ts";
import type { GenerationRequest } from "./generation-request.ts";
import type { Message } from "./messages.ts";
import type { Model } from "./model.ts";
import { resultMessage, type SessionTool } from "./session-tools.ts";

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
   * becomes part of the conversation only when that is complete: an aborted or failed reply leaves the conversation unchanged.
   * Throws `invalid_request` while another reply is running, and what `Model.generate()` throws.
   */
  async *send(
    content: string,
    options: { signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<string, GenerationResult> {
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
      const result = yield* this.#reply(messages, options);
      if (conversation === this.#messages) this.#messages = messages;
      return result;
    } finally {
      this.#busy = false;
    }
  }

  /** Adds the replies and the results of their calls to the messages. Returns the last reply. */
  async *#reply(
    messages: Message[],
    options: { signal?: AbortSignal | undefined },
  ): AsyncGenerator<string, GenerationResult> {
    for (let round = 0; ; round += 1) {
      const tools = this.#tools.map(({ run: _run, ...tool }) => tool);
      const request = { ...this.#options, messages, tools, toolChoice: this.#toolChoice(round) };
      const generation = this.#model.generate(request, options);
      for await (const chunk of generation) yield chunk.text;
      const result = await generation;
      const { text, reasoning, toolCalls, finishReason } = result;
      // Nor is a call run that the token limit cut off.
      if (finishReason !== "tool_calls" || round >= this.#toolRoundsMax) {
        messages.push({ role: "assistant", content: text });
        return result;
      }
      messages.push({ role: "assistant", content: text, reasoning, toolCalls });
      for (const call of toolCalls) messages.push(await resultMessage(call, this.#tools, options.signal));
    }
  }

  /** What requires a call applies to the first reply only: otherwise the calls would never end. */
  #toolChoice(round: number): ChatSessionOptions["toolChoice"] {
    const { toolChoice } = this.#options;
    if (round >= this.#toolRoundsMax) return "none";
    return round === 0 || toolChoice === "none" ? toolChoice : "auto";
  }
}
