// A response that is generated in the background: its state, and its events for any number of readers.
//
//   queued ──▶ in_progress ──▶ completed, incomplete
//      └─────────────┴───────▶ failed, cancelled
import type { ResponseObject, ResponsesEvent, ResponseStatus } from "@ingle/protocol";
import { toText } from "./events.ts";

const next: Readonly<Record<ResponseStatus, readonly ResponseStatus[]>> = {
  queued: ["in_progress", "failed", "cancelled"],
  in_progress: ["completed", "incomplete", "failed", "cancelled"],
  completed: [],
  incomplete: [],
  failed: [],
  cancelled: [],
};

/** Whether a response with this status no longer changes. */
export function isFinal(status: ResponseStatus): boolean {
  return next[status].length === 0;
}

export class BackgroundResponse {
  readonly owner: string;
  /** Ends the generation with this error. Idempotent. */
  readonly cancel: (reason: Error) => void;
  /** Resolves when the response is final and stored. */
  readonly ended: Promise<void>;
  #resolveEnded!: () => void;
  #response: ResponseObject;
  /** The events as text; the index is the sequence number. */
  readonly #events: string[] = [];
  #isEnded = false;
  /** Resolves with the next event or the end. */
  #news!: Promise<void>;
  #tell!: () => void;

  constructor(response: ResponseObject, { owner, cancel }: Pick<BackgroundResponse, "owner" | "cancel">) {
    this.#response = response;
    this.owner = owner;
    this.cancel = cancel;
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve));
    this.#awaitNews();
  }

  /** The response in its latest event that has one. */
  get response(): ResponseObject {
    return this.#response;
  }

  /** The events so far. */
  get events(): readonly string[] {
    return this.#events;
  }

  /** Adds the next event. Throws for an impossible next state, which is a bug. */
  add(event: ResponsesEvent): void {
    if ("response" in event) this.#move(event.response);
    this.#events.push(toText(event));
    this.#announce();
  }

  /** There are no more events, and the response is stored. */
  end(): void {
    this.#isEnded = true;
    this.#resolveEnded();
    this.#announce();
  }

  /** The events from this one on: existing ones, and later ones as they arrive. */
  async *from(index: number): AsyncGenerator<string, void, undefined> {
    for (let at = index; ; at += 1) {
      while (at >= this.#events.length) {
        if (this.#isEnded) return;
        await this.#news;
      }
      yield this.#events[at] ?? "";
    }
  }

  #move(response: ResponseObject): void {
    const { status } = this.#response;
    if (response.status !== status && !next[status].includes(response.status))
      throw new Error(`A response cannot go from ${status} to ${response.status}.`);
    this.#response = response;
  }

  #announce(): void {
    this.#tell();
    this.#awaitNews();
  }

  #awaitNews(): void {
    this.#news = new Promise((resolve) => (this.#tell = resolve));
  }
}
