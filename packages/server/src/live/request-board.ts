// The requests that models work on, and the last ones that have ended: for the events of GET /api/v1/events and the orders about single
// requests. Both listeners of the app share one board. Rows are made when somebody looks.
import { finishedRequestsMax, type LiveRequest } from "@ingle/protocol";
import { WireError } from "../wire-error.ts";
import { KeptBodies } from "./kept-bodies.ts";
import { TrackedRequest, type EndStatus, type RequestFacts, type RequestRow } from "./tracked-request.ts";

export class RequestBoard {
  readonly bodies = new KeptBodies();
  /** By id, the oldest first. */
  readonly #running = new Map<string, TrackedRequest>();
  /** The same of those that have ended; their rows are plain values. */
  readonly #ended = new Map<string, RequestRow>();
  #promptTokens = 0;
  #cachedTokens = 0;

  /** Puts a request on the board until `end()`. Its id there is its own, whatever ids clients choose. */
  enter(facts: RequestFacts): TrackedRequest {
    const tracked = new TrackedRequest({ ...facts, id: this.#freeId(facts.id) });
    this.#running.set(tracked.id, tracked);
    return tracked;
  }

  /** Keeps its last row, and lets go of everything else. */
  end(tracked: TrackedRequest, status: EndStatus, httpStatus: number): void {
    if (!this.#running.delete(tracked.id)) return;
    this.#ended.set(tracked.id, tracked.end(status, httpStatus));
    const [oldest] = this.#ended.keys();
    if (oldest === undefined || this.#ended.size <= finishedRequestsMax) return;
    this.#ended.delete(oldest);
    this.bodies.forget(oldest);
  }

  /** Counts a prompt that was answered, as the engine did. */
  countPrompt({ promptTokens, cachedTokens }: { promptTokens: number; cachedTokens: number }): void {
    this.#promptTokens += promptTokens;
    this.#cachedTokens += cachedTokens;
  }

  /** Prompt tokens that were found in the prefix cache, 0 to 1 of all; null before the first. */
  get cachedShare(): number | null {
    return this.#promptTokens === 0 ? null : this.#cachedTokens / this.#promptTokens;
  }

  /** The newest first. */
  rows(): LiveRequest[] {
    const running = [...this.#running.values()];
    const queued = queuedOf(running);
    const rows = [...this.#ended.values(), ...running.map((each) => each.row(queued.has(each)))];
    return rows
      .map((row) => this.#withBodies(row))
      .toSorted((one, other) => other.started_at - one.started_at);
  }

  /**
   * Ends a request; its client gets a `cancelled` error. Resolves with its last row. Throws `not_found` where no request of this id
   * runs.
   */
  async cancel(id: string): Promise<LiveRequest> {
    const tracked = this.#running.get(id);
    if (tracked === undefined) {
      const message = "No request of this id is running: it has ended, or there never was one.";
      throw new WireError("not_found", message, { param: "id" });
    }
    tracked.cancel(new WireError("cancelled", "The request was cancelled by whoever manages this server."));
    return this.#withBodies(await tracked.ended);
  }

  #withBodies(row: RequestRow): LiveRequest {
    const kept = this.bodies.of(row.id);
    return { ...row, body: kept?.body ?? null, answer: kept?.answer ?? null };
  }

  /** Clients may choose ids, and choose one twice. None of theirs has a tilde. */
  #freeId(wanted: string): string {
    const isTaken = (id: string): boolean => this.#running.has(id) || this.#ended.has(id);
    let id = wanted;
    for (let number = 2; isTaken(id); number += 1) id = `${wanted}~${number}`;
    return id;
  }
}

/** What the board needs to know of a request to say whether it waits in the engine's queue. */
export interface MaybeQueued {
  readonly model: { readonly disposed: boolean; stats(): { readonly waiting: number } } | undefined;
  readonly unstarted: number;
}

/**
 * Those that wait in an engine's queue. An engine tells how many wait, not which: the newest of those without a token are taken to be
 * they, which is the order in which one client's requests are served.
 */
export function queuedOf<T extends MaybeQueued>(oldestFirst: readonly T[]): Set<T> {
  const queued = new Set<T>();
  const left = new Map<MaybeQueued["model"], number>();
  for (const each of oldestFirst.toReversed()) {
    const { model, unstarted } = each;
    if (model === undefined || unstarted === 0) continue;
    const waiting = left.get(model) ?? (model.disposed ? 0 : model.stats().waiting);
    if (waiting >= unstarted) queued.add(each);
    left.set(model, Math.max(0, waiting - unstarted));
  }
  return queued;
}
