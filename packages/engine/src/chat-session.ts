// A conversation with memory: each message is answered with all that was said before.
import { EngineError } from "./errors.ts";
import type { GenerationResult } from "./generation.ts";
import type { GenerationRequest } from "./generation-request.ts";
import type { Message } from "./messages.ts";
import type { Model } from "./model.ts";

export type ChatSessionOptions = Omit<
  Extract<GenerationRequest, { messages: unknown }>,
  "messages" | "prompt"
> & {
  /** Said to the model before everything else. */
  system?: string | undefined;
};

export class ChatSession {
  readonly #model: Model;
  readonly #options: Omit<ChatSessionOptions, "system">;
  readonly #system: Message[];
  #messages: Message[];
  #busy = false;

  constructor(model: Model, { system, ...options }: ChatSessionOptions = {}) {
    this.#model = model;
    this.#options = options;
    this.#system = system === undefined ? [] : [{ role: "system", content: system }];
    this.#messages = [...this.#system];
  }

  /** What was said so far, the system message first. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** Forgets everything but the system message. */
  clear(): void {
    this.#messages = [...this.#system];
  }

  /**
   * Says something and streams the answer. Question and answer become part of the conversation only when the answer
   * is complete: an aborted or failed one leaves it as it was. One answer at a time: a second `send` throws.
   */
  async *send(
    content: string,
    options: { signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<string, GenerationResult> {
    if (this.#busy) {
      throw new EngineError(
        "invalid_request",
        "This session is still answering; wait for it or start another one.",
      );
    }
    this.#busy = true;
    try {
      const question: Message = { role: "user", content };
      const conversation = this.#messages;
      const generation = this.#model.generate(
        { ...this.#options, messages: [...conversation, question] },
        options,
      );
      for await (const chunk of generation) yield chunk.text;
      const result = await generation;
      if (conversation === this.#messages) {
        this.#messages = [...conversation, question, { role: "assistant", content: result.text }];
      }
      return result;
    } finally {
      this.#busy = false;
    }
  }
}
