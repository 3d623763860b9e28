import { keptBodiesLengthMax, keptBodiesMax, keptBodyLengthMax } from "@ingle/protocol";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { KeptBodies } from "./kept-bodies.ts";

const bytes = (text: string): Uint8Array[] => [new TextEncoder().encode(text)];

function on(): KeptBodies {
  const bodies = new KeptBodies();
  bodies.switch(true);
  return bodies;
}

describe("kept bodies", () => {
  it("are empty until they are switched on", () => {
    const bodies = new KeptBodies();
    expect(bodies.keep("a", bytes("a question"))).toBeUndefined();
    expect([bodies.isOn, bodies.of("a")]).toEqual([false, undefined]);
  });

  it("contain the request's body, however it is split, and its response as it grows", () => {
    const bodies = on();
    const [first = new Uint8Array()] = bytes("grün");
    const kept = bodies.keep("a", [first.subarray(0, 3), first.subarray(3)]);
    kept?.addAnswer("one ");
    kept?.addAnswer(new TextEncoder().encode("two"));
    expect(bodies.of("a")).toMatchObject({ body: "grün", answer: "one two" });
  });

  it("are deleted when they are switched off, with what is added later", () => {
    const bodies = on();
    const kept = bodies.keep("a", bytes("a question"));
    kept?.addAnswer("an answer");
    bodies.switch(false);
    kept?.addAnswer(", and more");
    bodies.switch(true);
    kept?.addAnswer(", and more");
    expect(bodies.of("a")).toBeUndefined();
    expect(kept).toMatchObject({ body: "", answer: "" });
  });

  it("are cut at the maximum length", () => {
    const bodies = on();
    const long = "ä".repeat(keptBodyLengthMax + 5);
    const kept = bodies.keep("a", bytes(long));
    kept?.addAnswer(long.slice(10));
    kept?.addAnswer("y".repeat(20));
    kept?.addAnswer("z");
    expect(bodies.of("a")?.body).toBe(long.slice(0, keptBodyLengthMax));
    expect(bodies.of("a")?.answer).toBe(`${long.slice(10)}${"y".repeat(5)}`);
  });

  it("use memory for the kept start only, not for the whole body", () => {
    setFlagsFromString("--expose-gc");
    const collect: () => void = runInNewContext("gc");
    const bodies = on();
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let number = 0; number < 8; number += 1)
      bodies.keep(`${number}`, [])?.addAnswer(`${number}`.padEnd(16 * 1024 ** 2, "-x"));
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(32 * 1024 ** 2);
    expect(bodies.of("7")?.answer).toHaveLength(keptBodyLengthMax);
  });

  it("are those of the newest requests, limited in number and length", () => {
    const many = on();
    for (let number = 0; number <= keptBodiesMax; number += 1) many.keep(`${number}`, bytes("x"));
    expect([many.of("0"), many.of("1")?.body]).toEqual([undefined, "x"]);

    const large = on();
    const whole = "x".repeat(keptBodyLengthMax);
    const fitting = keptBodiesLengthMax / keptBodyLengthMax;
    for (let number = 0; number < fitting; number += 1) large.keep(`${number}`, bytes(whole));
    expect(large.of("0")?.body).toBe(whole);
    large.keep("last", bytes("y"))?.addAnswer("z");
    expect([large.of("0"), large.of("last")?.answer]).toEqual([undefined, "z"]);
  });
});
