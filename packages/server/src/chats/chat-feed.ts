// What the pages of the app have to hear about their chats: the latest changes and notes, numbered, for the event streams.
import type { ChatEvent } from "@ingle/protocol";
import { ChangeSignal } from "../signals.ts";

/** Events that are remembered. A listener reads them at once; one that is further behind is told to read everything again. */
const eventsMax = 1_000;

export class ChatFeed {
  readonly #events: ChatEvent[] = [];
  readonly #changed = new ChangeSignal();
  #last = 0;

  /** The number of the latest event; 0 before the first. */
  get last(): number {
    return this.#last;
  }

  add(event: ChatEvent): void {
    this.#last += 1;
    this.#events.push(event);
    if (this.#events.length > eventsMax) this.#events.shift();
    this.#changed.note();
  }

  /** The events after this number, oldest first. */
  after(number: number): ChatEvent[] {
    const missing = this.#last - number;
    if (missing > this.#events.length) return [{ about: "missed" }];
    return missing === 0 ? [] : this.#events.slice(-missing);
  }

  /** Resolves at the next event. Rejects with the signal's reason. */
  async next(signal: AbortSignal): Promise<void> {
    await this.#changed.next(signal);
  }
}
