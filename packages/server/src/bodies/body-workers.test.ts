import { describe, expect, it } from "vitest";
import { BodyPieces } from "./receive-body.ts";
import { BodyWorkers } from "./body-workers.ts";

/** Each body has the signal of its own request. */
const never = (): AbortSignal => new AbortController().signal;
const toPieces = (text: string): Uint8Array<ArrayBuffer>[] => {
  const pieces = new BodyPieces();
  for (const chunk of [text.slice(0, 3), text.slice(3)]) pieces.add(Buffer.from(chunk));
  return pieces.take();
};
const order = (body: unknown) => ({ pieces: toPieces(JSON.stringify(body)), schemaId: "DetokenizeRequest" });

describe("the threads that read bodies", () => {
  it("give a checked request with the fields that it has, or what is wrong with it", async () => {
    await using workers = new BodyWorkers();
    const [right, wrong] = await Promise.all([
      workers.check(order({ model: "m", tokens: [1, 2], more: 1 }), never()),
      workers.check(order({ model: "m", tokens: ["a"] }), never()),
    ]);
    expect(right).toMatchObject({ value: { model: "m", tokens: Int32Array.of(1, 2) } });
    expect(right).not.toHaveProperty("value.more");
    expect(wrong).toMatchObject({ refusal: { code: "invalid_request", param: "tokens" } });
  });

  it("read many bodies, in more time than threads", async () => {
    await using workers = new BodyWorkers();
    const bodies = Array.from({ length: 40 }, (_, index) => ({ model: "m", tokens: [index] }));
    const checked = await Promise.all(bodies.map((body) => workers.check(order(body), never())));
    expect(checked).toMatchObject(bodies.map((_, index) => ({ value: { tokens: Int32Array.of(index) } })));
  });

  it("leave a body whose sender has gone", async () => {
    await using workers = new BodyWorkers();
    const gone = new AbortController();
    const waiting = Array.from({ length: 8 }, () => workers.check(order({ tokens: [1] }), gone.signal));
    const left = Promise.allSettled(waiting);
    gone.abort(new Error("gone"));
    expect((await left).map(({ status }) => status)).toEqual(waiting.map(() => "rejected"));
    expect(await workers.check(order({ model: "m", tokens: [7] }), never())).toHaveProperty("value");
  });

  it("say what is wrong with a body that a thread cannot read, and go on", async () => {
    await using workers = new BodyWorkers();
    const unknown = { pieces: toPieces("{}"), schemaId: "NoSuchRequest" };
    await expect(workers.check(unknown, never())).rejects.toThrow("NoSuchRequest");
    expect(await workers.check(order({ model: "m", tokens: [7] }), never())).toHaveProperty("value");
  });

  it("end in the middle of their work", async () => {
    const workers = new BodyWorkers();
    const cut = expect(workers.check(order({ tokens: [1] }), never())).rejects.toThrow("ended");
    await workers[Symbol.asyncDispose]();
    await cut;
  });
});

describe("a body in pieces", () => {
  it("is what came, whatever the chunks were", () => {
    const pieces = new BodyPieces();
    const bytes = Buffer.from(Array.from({ length: 5_000_000 }, (_, index) => index % 251));
    for (let from = 0, length = 1; from < bytes.length; from += length, length = (length * 7) % 99_991)
      pieces.add(bytes.subarray(from, from + length));
    expect(pieces.length).toBe(bytes.length);
    expect(Buffer.concat(pieces.take()).equals(bytes)).toBe(true);
  });
});
