// The events of a streamed reply in LM Studio's API v1, from the prompt to the end.
//
//   prompt ──▶ between ──▶ reasoning, message ──▶ …      one part after the other, each begun and ended
//
import type { GenerationChunk } from "@ingle/engine";
import type { LmStudioChatEvent, LmStudioChatResponse, LmStudioOutputItem } from "@ingle/protocol";
import { namedEvent } from "../../../http/event-stream.ts";

export function toText(event: LmStudioChatEvent): string {
  return namedEvent(event.type, JSON.stringify(event));
}

type Part = LmStudioOutputItem["type"];

/** Converts the pieces of one reply to events, and remembers what has been sent. */
export class ChatEvents {
  readonly #output: LmStudioOutputItem[] = [];
  #isPrompt = true;
  #open: LmStudioOutputItem | undefined;
  #tokens = 0;

  /** The output generated so far. */
  get output(): readonly LmStudioOutputItem[] {
    return this.#output;
  }

  get tokens(): number {
    return this.#tokens;
  }

  piece({ text, reasoning = "", tokens }: GenerationChunk): LmStudioChatEvent[] {
    this.#tokens += tokens;
    return [...this.#endPrompt(), ...this.#delta("reasoning", reasoning), ...this.#delta("message", text)];
  }

  end(result: LmStudioChatResponse): LmStudioChatEvent[] {
    return [...this.#endPrompt(), ...this.#close(), { type: "chat.end", result }];
  }

  #endPrompt(): LmStudioChatEvent[] {
    if (!this.#isPrompt) return [];
    this.#isPrompt = false;
    return [{ type: "prompt_processing.end" }];
  }

  #delta(type: Part, content: string): LmStudioChatEvent[] {
    if (content === "") return [];
    const begun = this.#open?.type === type ? [] : [...this.#close(), ...this.#begin(type)];
    if (this.#open !== undefined) this.#open.content += content;
    return [...begun, { type: `${type}.delta`, content }];
  }

  #begin(type: Part): LmStudioChatEvent[] {
    this.#open = { type, content: "" };
    this.#output.push(this.#open);
    return [{ type: `${type}.start` }];
  }

  #close(): LmStudioChatEvent[] {
    const open = this.#open;
    this.#open = undefined;
    return open === undefined ? [] : [{ type: `${open.type}.end` }];
  }
}
