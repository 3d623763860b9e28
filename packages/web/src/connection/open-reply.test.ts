import { ApiError } from "@ingle/client";
import { describe, expect, it } from "vitest";

import { openReply } from "./reconnect.ts";

function refusal(code: string, retryAfterMs?: number): ApiError {
  const nothing = {
    type: null,
    param: null,
    requestId: null,
    promptTokens: undefined,
    contextLength: undefined,
  };
  return new ApiError(code, { ...nothing, status: 503, code, retryAfterMs });
}

/** Fails with these errors, then opens. */
function opening(...errors: Error[]) {
  return async () => {
    const error = errors.shift();
    if (error !== undefined) throw error;
    return "open";
  };
}

describe("openReply", () => {
  it("waits as long as the server says while the model is loading", async () => {
    const waits: number[] = [];
    const wait = async (milliseconds: number) => void waits.push(milliseconds);
    const open = opening(refusal("model_loading", 3_000), refusal("model_loading"));
    const { signal } = new AbortController();
    await expect(openReply(open, { signal, wait })).resolves.toBe("open");
    expect(waits).toEqual([3_000, 1_000]);
  });

  it("fails at once with every other error", async () => {
    const { signal } = new AbortController();
    const failure = refusal("engine_failed", 10_000);
    await expect(openReply(opening(failure), { signal })).rejects.toBe(failure);
  });

  it("rejects with the reason of a signal that aborts during the wait", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const opened = openReply(opening(refusal("model_loading", 1e9)), { signal });
    controller.abort(new Error("stopped"));
    await expect(opened).rejects.toThrow("stopped");
  });
});
