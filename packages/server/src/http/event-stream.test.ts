import { describe, expect, it } from "vitest";
import { dataEvent, eventStream, keepAliveComment } from "./event-stream.ts";

const toErrorEvents = (error: unknown): string => dataEvent(JSON.stringify({ error: String(error) }));

async function collect(events: AsyncIterable<string>): Promise<string[]> {
  const seen: string[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe("eventStream", () => {
  it("passes events on in order", async () => {
    const source = async function* () {
      yield "a";
      yield "b";
    };
    expect(await collect(eventStream(source(), { keepAliveMs: 1000, toErrorEvents }))).toEqual(["a", "b"]);
  });

  it("sends a comment while the source is silent", async () => {
    const source = async function* () {
      await pause(50);
      yield "a";
    };
    const seen = await collect(eventStream(source(), { keepAliveMs: 10, toErrorEvents }));
    expect(seen.at(-1)).toBe("a");
    expect(seen.length).toBeGreaterThan(1);
    expect(new Set(seen.slice(0, -1))).toEqual(new Set([keepAliveComment]));
  });

  it("throws an error that comes before the first event", async () => {
    const gone = new Error("early");
    // oxlint-disable-next-line require-yield -- it fails before it could
    const source = async function* (): AsyncGenerator<string> {
      throw gone;
    };
    await expect(collect(eventStream(source(), { keepAliveMs: 1000, toErrorEvents }))).rejects.toBe(gone);
  });

  it("makes a later error the last event", async () => {
    const source = async function* () {
      yield "a";
      throw new Error("late");
    };
    expect(await collect(eventStream(source(), { keepAliveMs: 1000, toErrorEvents }))).toEqual([
      "a",
      'data: {"error":"Error: late"}\n\n',
    ]);
  });

  it("closes its source when its reader leaves, also while that is silent", async () => {
    let closed = 0;
    const source = async function* () {
      try {
        yield "a";
        await pause(20);
        yield "b";
      } finally {
        closed += 1;
      }
    };
    for await (const event of eventStream(source(), { keepAliveMs: 5, toErrorEvents })) {
      if (event === keepAliveComment) break;
    }
    await expect.poll(() => closed).toBe(1);
  });
});
