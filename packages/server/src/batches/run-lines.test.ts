import type { BatchResult } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import type { RequestLine } from "./check-lines.ts";
import { runLines, type LineResponse, type RunOptions } from "./run-lines.ts";

async function* lines(count: number): AsyncGenerator<RequestLine> {
  for (let number = 0; number < count; number += 1)
    yield { number, customId: `${number}`, url: "/v1/completions", body: {} };
}

const good: LineResponse = { status: 200, requestId: "r", retryAfterSeconds: undefined, body: {} };
const failed = (code: string, status = 429, retryAfterSeconds?: number): LineResponse => ({
  status,
  requestId: "r",
  retryAfterSeconds,
  body: { error: { code, message: "m", type: "t", param: null } },
});

/** Options that collect the results and the waits. */
function options(send: RunOptions["send"], places = 3) {
  const results: BatchResult[] = [];
  const waits: number[] = [];
  const stop = new AbortController();
  const given: RunOptions = {
    places: () => places,
    send,
    keep: async (result) => {
      results.push(result);
    },
    signal: stop.signal,
    sleep: async (ms) => {
      waits.push(ms);
    },
  };
  return { given, results, waits, stop };
}

const tick = async (): Promise<void> => await new Promise((resolve) => setImmediate(resolve));

describe("runLines", () => {
  it("keeps as many requests in flight as there are places, and a result of each", async () => {
    let [inFlight, most] = [0, 0];
    const { given, results } = options(async () => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await tick();
      inFlight -= 1;
      return good;
    });
    await runLines(lines(20), given);
    expect(most).toBe(3);
    expect(new Set(results.map(({ custom_id }) => custom_id)).size).toBe(20);
  });

  it("tries again after what passes, when the response says so, and keeps only the last response", async () => {
    const responses = [
      failed("overloaded"),
      failed("rate_limited", 429, 7),
      failed("model_loading", 503),
      good,
    ];
    const { given, results, waits } = options(async () => responses.shift() ?? good);
    await runLines(lines(1), given);
    expect(results).toMatchObject([{ custom_id: "0", response: { status_code: 200 } }]);
    expect(waits).toEqual([250, 7_000, 1_000]);
  });

  it("gives up on a request that crashes the engine again and again", async () => {
    let sent = 0;
    const { given, results } = options(async () => {
      sent += 1;
      return failed("engine_crashed", 503);
    });
    await runLines(lines(1), given);
    expect(sent).toBe(3);
    expect(results).toMatchObject([{ response: { status_code: 503 } }]);
  });

  it("keeps an error of the request as its result at once", async () => {
    const { given, results, waits } = options(async () => failed("invalid_request", 400));
    await runLines(lines(2), given);
    expect(results.map(({ response }) => response?.status_code)).toEqual([400, 400]);
    expect(waits).toEqual([]);
  });

  it("ends with the first failure, when nothing is in flight any more", async () => {
    let inFlight = 0;
    const { given, results } = options(async ({ number }, signal) => {
      inFlight += 1;
      await tick();
      inFlight -= 1;
      if (number === 1) throw new Error("the network is gone");
      signal.throwIfAborted();
      return good;
    });
    await expect(runLines(lines(20), given)).rejects.toThrow("the network is gone");
    expect(inFlight).toBe(0);
    expect(results.length).toBeLessThan(3);
  });

  it("ends with the signal's reason, also while it waits to try again", async () => {
    const { given, stop, results } = options(async () => failed("rate_limited", 429, 1_000));
    const { sleep: _sleep, ...withTimer } = given;
    const running = runLines(lines(5), withTimer);
    await tick();
    stop.abort(new Error("stopped"));
    await expect(running).rejects.toThrow("stopped");
    expect(results).toEqual([]);
  });
});
