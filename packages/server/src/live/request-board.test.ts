import { finishedRequestsMax } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import { WireError } from "../wire-error.ts";
import { findQueued, RequestBoard, type MaybeQueued, type RequestFacts } from "./request-board.ts";

/** A clock that the test moves. */
class Clock {
  ms = 0;
  readonly facts: Pick<RequestFacts, "clock" | "now"> = {
    clock: () => this.ms,
    now: () => 1_000_000 + this.ms,
  };
}

function facts(id: string, of: Partial<RequestFacts> = {}): RequestFacts {
  const { facts: times } = new Clock();
  return {
    id,
    method: "POST",
    path: "/v1/chat/completions",
    client: "127.0.0.1",
    key: null,
    keyDigest: null,
    outcome: {},
    cancel: () => {},
    ...times,
    ...of,
  };
}

function ids(board: RequestBoard): string[] {
  return board.rows().map(({ id }) => id);
}

describe("request board", () => {
  it("has a row while a request runs and after it ended, with its speed between the first piece and the last", () => {
    const board = new RequestBoard();
    const clock = new Clock();
    const outcome = { model: "tiny", promptTokens: 7, cachedTokens: 3, completionTokens: 21 };
    const tracked = board.enter(facts("a", { ...clock.facts, key: "editor" }));
    expect(board.rows()).toEqual([
      {
        id: "a",
        method: "POST",
        path: "/v1/chat/completions",
        model: null,
        client: "127.0.0.1",
        key: "editor",
        status: "waiting",
        http_status: null,
        started_at: 1_000,
        seconds: 0,
        prompt_tokens: null,
        cached_tokens: null,
        completion_tokens: 0,
        tokens_per_second: null,
        can_cancel: true,
        body: null,
        answer: null,
      },
    ]);
    clock.ms = 1_000;
    tracked.piece(1, clock.ms);
    expect(board.rows()).toMatchObject([
      { status: "generating", seconds: 1, completion_tokens: 1, tokens_per_second: null },
    ]);
    clock.ms = 3_000;
    tracked.piece(20, clock.ms);
    expect(board.rows()).toMatchObject([{ completion_tokens: 21, tokens_per_second: 10 }]);
    board.end(tracked, "done", 200);
    clock.ms = 9_000;
    expect(board.rows()).toMatchObject([{ status: "done", http_status: 200, seconds: 3, can_cancel: false }]);

    const known = board.enter(facts("b", { outcome }));
    board.end(known, "failed", 500);
    expect(board.rows().find(({ id }) => id === "b")).toMatchObject({
      model: "tiny",
      status: "failed",
      prompt_tokens: 7,
      cached_tokens: 3,
      completion_tokens: 21,
    });
  });

  it("keeps plain values of ended requests, the newest only", () => {
    const board = new RequestBoard();
    board.bodies.switch(true);
    for (let number = 0; number <= finishedRequestsMax; number += 1) {
      const tracked = board.enter(facts(`${number}`));
      board.bodies.keep(tracked.id, []);
      board.end(tracked, "done", 200);
    }
    const rows = board.rows();
    expect(rows).toHaveLength(finishedRequestsMax);
    expect(ids(board)).not.toContain("0");
    expect(board.bodies.of("0")).toBeUndefined();
    const values = rows.flatMap((row) => Object.values(row));
    expect(values.filter((value) => typeof value === "object" && value !== null)).toEqual([]);
  });

  it("gives unique ids to two requests whose clients chose the same", () => {
    const board = new RequestBoard();
    const one = board.enter(facts("same"));
    board.end(one, "done", 200);
    board.enter(facts("same"));
    board.enter(facts("same"));
    expect(ids(board).toSorted()).toEqual(["same", "same~2", "same~3"]);
  });

  it("cancels a running request, and returns its last row", async () => {
    const board = new RequestBoard();
    const reasons: Error[] = [];
    const tracked = board.enter(facts("a", { cancel: (reason) => reasons.push(reason) }));
    const cancelled = board.cancel("a");
    board.end(tracked, "cancelled", 410);
    expect(await cancelled).toMatchObject({ id: "a", status: "cancelled", http_status: 410 });
    expect(reasons).toEqual([expect.objectContaining({ code: "cancelled" })]);
    expect(reasons[0]).toBeInstanceOf(WireError);
    await expect(board.cancel("a")).rejects.toMatchObject({ code: "not_found" });
    await expect(board.cancel("nobody")).rejects.toMatchObject({ code: "not_found" });
  });

  it("computes the share of prompt tokens that were cached", () => {
    const board = new RequestBoard();
    expect(board.cachedShare).toBeNull();
    board.countPrompt({ promptTokens: 30, cachedTokens: 0 });
    expect(board.cachedShare).toBe(0);
    board.countPrompt({ promptTokens: 10, cachedTokens: 10 });
    expect(board.cachedShare).toBe(0.25);
  });
});

describe("requests in an engine's queue", () => {
  const engine = (waiting: number) => ({ disposed: false, stats: () => ({ waiting }) });
  it.each<[string, number, number[], boolean[]]>([
    ["nobody", 0, [1, 1], [false, false]],
    ["the newest", 1, [1, 1], [false, true]],
    ["all", 2, [1, 1], [true, true]],
    ["none that has begun", 1, [1, 0], [true, false]],
    ["no request of which a part is computed", 1, [1, 2], [false, false]],
    ["a request of several parts", 2, [1, 2], [false, true]],
  ])("are %s", (_who, waiting, unstarted, expected) => {
    const model = engine(waiting);
    const rows: MaybeQueued[] = unstarted.map((count) => ({ model, unstarted: count }));
    const queued = findQueued(rows);
    expect(rows.map((row) => queued.has(row))).toEqual(expected);
  });

  it("are counted for each model, and not for models that are gone", () => {
    const [busy, free] = [engine(1), engine(0)];
    const gone = {
      disposed: true,
      stats: (): never => {
        throw new Error("disposed");
      },
    };
    const rows: MaybeQueued[] = [busy, free, gone, undefined].map((model) => ({ model, unstarted: 1 }));
    const queued = findQueued(rows);
    expect(rows.map((row) => queued.has(row))).toEqual([true, false, false, false]);
  });
});
