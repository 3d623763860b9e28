import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LineChecker, type RequestLine } from "./check-lines.ts";
import { byPrefix } from "./prefix-order.ts";
import { readLines } from "./read-lines.ts";

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe("readLines", () => {
  it("yields the lines that are not blank with their numbers, however the text arrives", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.stringMatching(/^[a-z ü\r]{0,6}$/)),
        fc.integer({ min: 1, max: 9 }),
        async (lines, size) => {
          const bytes = Buffer.from(lines.join("\n"));
          const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
            bytes.subarray(index * size, (index + 1) * size),
          );
          const read = await collect(readLines(each(chunks), { bytesMax: 100 }));
          const expected = lines
            .map((text, index) => ({ number: index + 1, text }))
            .filter(({ text }) => text.trim() !== "");
          expect(read.map(({ number, bytes: line }) => ({ number, text: line?.toString() }))).toEqual(
            expected,
          );
        },
      ),
    );
  });

  it("skips the content of a line that is too long, and goes on after it", async () => {
    const chunks = [Buffer.from("ab\nabcd"), Buffer.from("efgh"), Buffer.from("i\nabc")];
    const read = await collect(readLines(each(chunks), { bytesMax: 3 }));
    expect(read.map(({ number, bytes }) => [number, bytes?.toString()])).toEqual([
      [1, "ab"],
      [2, undefined],
      [3, "abc"],
    ]);
  });
});

describe("LineChecker", () => {
  const line = {
    custom_id: "a",
    method: "POST",
    url: "/v1/chat/completions",
    body: { messages: [] },
  };
  const check = (checker: LineChecker, value: unknown, number = 1) =>
    checker.check({ number, bytes: Buffer.from(typeof value === "string" ? value : JSON.stringify(value)) });

  it("returns the request of a right line", () => {
    expect(check(new LineChecker(), line)).toEqual({
      line: { number: 1, customId: "a", url: line.url, body: line.body },
    });
  });

  it.each<[what: string, value: unknown, problem: object]>([
    ["no JSON", "{", { code: "invalid_json", customId: null }],
    ["no object", "[]", { code: "invalid_request", customId: null }],
    ["no custom_id", { ...line, custom_id: undefined }, { param: "custom_id", customId: null }],
    ["a custom_id that is a number", { ...line, custom_id: 7 }, { param: "custom_id", customId: null }],
    ["another method", { ...line, method: "GET" }, { param: "method", customId: "a" }],
    ["an unknown url", { ...line, url: "/v1/images" }, { param: "url", customId: "a" }],
    ["another url than the batch", { ...line, url: "/v1/embeddings" }, { param: "url", customId: "a" }],
    ["no body", { ...line, body: undefined }, { param: "body", customId: "a" }],
    ["a stream", { ...line, body: { stream: true } }, { param: "body.stream", customId: "a" }],
  ])("refuses %s", (_, value, problem) => {
    const checker = new LineChecker({ endpoint: "/v1/chat/completions" });
    expect(check(checker, value, 4)).toMatchObject({ problem: { number: 4, ...problem } });
  });

  it("refuses an id that an earlier line has, and names that line", () => {
    const checker = new LineChecker();
    check(checker, line, 3);
    expect(check(checker, line, 9)).toMatchObject({
      problem: { param: "custom_id", customId: "a", message: expect.stringContaining("line 3") },
    });
  });

  it("refuses a line that was too long to read", () => {
    expect(new LineChecker().check({ number: 2, bytes: undefined })).toMatchObject({
      problem: { number: 2, code: "payload_too_large" },
    });
  });
});

describe("byPrefix", () => {
  const request = (number: number, content: string): RequestLine => ({
    number,
    customId: `${number}`,
    url: "/v1/chat/completions",
    body: { messages: [{ role: "system", content }] },
  });

  it("puts the lines of a window with the same prefix beside each other, and yields each once", async () => {
    const lines = Array.from({ length: 1000 }, (_, index) => request(index, `${"xyz"[index % 3]} ${index}`));
    const sent = await collect(byPrefix(each(lines)));
    expect(sent.map(({ number }) => number).toSorted((a, b) => a - b)).toEqual(
      lines.map(({ number }) => number),
    );
    const changes = (all: readonly RequestLine[]): number =>
      all.filter(({ number }, index) => number % 3 !== (all[index - 1]?.number ?? 0) % 3).length;
    expect(changes(lines)).toBeGreaterThan(900);
    expect(changes(sent)).toBeLessThan(20);
    // No line waits for more than its window.
    for (const [place, { number }] of sent.entries()) expect(Math.abs(place - number)).toBeLessThan(256);
  });
});
