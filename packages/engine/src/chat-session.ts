// A conversation with memory: each reply takes all earlier messages into account.
import { EngineError } from "./errors.ts";
import type { GenerationResult } from "./generation.ts";
import type { GenerationRequest } from "./generation-request.ts";
import type { Message } from "./messages.ts";
import type { Model } from "./model.ts";

export type ChatSessionOptions = Omit<
  Extract<GenerationRequest, { messages: unknown }>,
  "messages" | "prompt"
> & {
  /** The system message. Default: none. */
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

  /** All messages so far, the system message first. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** Removes all messages except the system message. */
  clear(): void {
    this.#messages = [...this.#system];
  }

  /**
   * Sends a user message and streams the reply; the generator returns the whole result. Both become part of the conversation only
   * when the reply is complete: an aborted or failed reply leaves the conversation unchanged. Throws `invalid_request` while
   * another reply is running, and what `Model.generate()` throws.
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
      const message: Message = { role: "user", content };
      const conversation = this.#messages;
      const generation = this.#model.generate(
        { ...this.#options, messages: [...conversation, message] },
        options,
      );
      for await (const chunk of generation) yield chunk.text;
      const result = await generation;
      if (conversation === this.#messages) {
        this.#messages = [...conversation, message, { role: "assistant", content: result.text }];
      }
      return result;
    } finally {
      this.#busy = false;
    }
  }
}
