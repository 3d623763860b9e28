import fc from "fast-check";
import { expect, test } from "vitest";

import { readEvents } from "./event-stream.ts";

async function eventsOf(pieces: Uint8Array[]): Promise<string[]> {
  const queue = [...pieces];
  const events: string[] = [];
  for await (const data of readEvents(async () => queue.shift())) events.push(data);
  return events;
}

const lineEnd = fc.constantFrom("\n", "\r\n");
const text = fc.string({ unit: "grapheme", maxLength: 12 }).map((value) => JSON.stringify({ value }));

test("gives the same events however the bytes are cut, with either line ending and comments between", async () => {
  const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(fc.array(text, { maxLength: 6 }), lineEnd, cuts, async (texts, end, at) => {
      const written = texts.map((data) => `: alive${end}${end}data: ${data}${end}${end}`).join("");
      const bytes = new TextEncoder().encode(written);
      const places = [
        0,
        ...at.map((part) => Math.round(part * bytes.length)).toSorted((a, b) => a - b),
        bytes.length,
      ];
      const pieces = places.slice(1).map((place, index) => bytes.slice(places[index], place));
      expect(await eventsOf(pieces)).toEqual(texts);
    }),
  );
});

test("does not give out an event that the end cuts short", async () => {
  expect(await eventsOf([new TextEncoder().encode("data: whole\n\ndata: ha")])).toEqual(["whole"]);
  expect(await eventsOf([new TextEncoder().encode("data: no empty line\n")])).toEqual([]);
});
