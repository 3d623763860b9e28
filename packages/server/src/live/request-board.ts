// The requests in flight and the last ones that ended, for GET /api/v1/events and for managing single requests. Both listeners of
// the app share one board. Rows are only built when they are read.
import { finishedRequestsMax, type LiveRequest } from "@ingle/protocol";
import { WireError } from "../wire-error.ts";
import { KeptBodies } from "./kept-bodies.ts";
import { TrackedRequest, type EndStatus, type RequestFacts, type RequestRow } from "./tracked-request.ts";

export class RequestBoard {
  readonly bodies = new KeptBodies();
  /** By id, oldest first. */
  readonly #running = new Map<string, TrackedRequest>();
  /** Requests that have ended; their rows are plain values. */
  readonly #ended = new Map<string, RequestRow>();
  #promptTokens = 0;
  #cachedTokens = 0;

  /** Adds a request until `end()`. Its id on the board is unique, even if clients choose the same id twice. */
  enter(facts: RequestFacts): TrackedRequest {
    const tracked = new TrackedRequest({ ...facts, id: this.#freeId(facts.id) });
    this.#running.set(tracked.id, tracked);
    return tracked;
  }

  /** Keeps only the request's last row. */
  end(tracked: TrackedRequest, status: EndStatus, httpStatus: number): void {
    if (!this.#running.delete(tracked.id)) return;
    this.#ended.set(tracked.id, tracked.end(status, httpStatus));
    const [oldest] = this.#ended.keys();
    if (oldest === undefined || this.#ended.size <= finishedRequestsMax) return;
    this.#ended.delete(oldest);
    this.bodies.forget(oldest);
  }

  /** Counts a computed prompt by the engine's numbers. */
  countPrompt({ promptTokens, cachedTokens }: { promptTokens: number; cachedTokens: number }): void {
    this.#promptTokens += promptTokens;
    this.#cachedTokens += cachedTokens;
  }

  /** The share of prompt tokens that the prefix cache had, 0 to 1; null before the first prompt. */
  get cachedShare(): number | null {
    return this.#promptTokens === 0 ? null : this.#cachedTokens / this.#promptTokens;
  }

  /** Newest first. */
  rows(): LiveRequest[] {
    const running = [...this.#running.values()];
    const queued = queuedOf(running);
    const rows = [...this.#ended.values(), ...running.map((each) => each.row(queued.has(each)))];
    return rows
      .map((row) => this.#withBodies(row))
      .toSorted((one, other) => other.started_at - one.started_at);
  }

  /**
   * Ends a request; its client gets a `cancelled` error. Resolves with its last row. Throws `not_found` if no request with this id
   * runs.
   */
  async cancel(id: string): Promise<LiveRequest> {
    const tracked = this.#running.get(id);
    if (tracked === undefined) {
      const message = "No running request has this id. It may have ended already.";
      throw new WireError("not_found", message, { param: "id" });
    }
    tracked.cancel(
      new WireError("cancelled", "The request was cancelled by an administrator of this server."),
    );
    return this.#withBodies(await tracked.ended);
  }

  #withBodies(row: RequestRow): LiveRequest {
    const kept = this.bodies.of(row.id);
    return { ...row, body: kept?.body ?? null, answer: kept?.answer ?? null };
  }

  /** Clients may choose their ids, and repeat them. No client id contains a tilde. */
  #freeId(wanted: string): string {
    const isTaken = (id: string): boolean => this.#running.has(id) || this.#ended.has(id);
    let id = wanted;
    for (let number = 2; isTaken(id); number += 1) id = `${wanted}~${number}`;
    return id;
  }
}

/** The data that tells whether a request waits in the engine's queue. */
export interface MaybeQueued {
  readonly model: { readonly disposed: boolean; stats(): { readonly waiting: number } } | undefined;
  readonly unstarted: number;
}

/**
 * The requests that wait in an engine's queue. An engine only counts them; the newest requests without a token are assumed to be
 * the waiting ones, because an engine serves one client's requests in order of arrival.
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
