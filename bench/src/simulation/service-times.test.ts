import path from "node:path";
import { describe, expect, it } from "vitest";
import { BenchError } from "../bench-error.ts";
import { readServiceTimes, fitServiceTimes, stepTable, type ServiceTimes } from "./service-times.ts";

const service: ServiceTimes = {
  about: {},
  parallel: 8,
  kvTokens: 1000,
  decodeSteps: [
    { replies: 1, ms: 10 },
    { replies: 4, ms: 16 },
  ],
  promptTokenMs: 1,
  requestMs: 0,
};

describe("service times", () => {
  it("are what the samples of a machine with these times say", () => {
    const prompts = [50, 100, 400].map((promptTokens) => ({ promptTokens, firstMs: 7 + 0.5 * promptTokens }));
    const reply = (replies: number, stepMs: number) => ({
      replies,
      tokens: 65,
      firstMs: 30,
      totalMs: 30 + 64 * stepMs,
    });
    // One of them was disturbed.
    const replies = [reply(4, 12), reply(4, 12), reply(4, 90), reply(1, 8)];
    const times = fitServiceTimes({ parallel: 8, kvTokens: 1000 }, { prompts, replies });
    expect(times.promptTokenMs).toBeCloseTo(0.5);
    expect(times.requestMs).toBeCloseTo(7);
    expect(times.decodeSteps).toEqual([
      { replies: 1, ms: 8 },
      { replies: 4, ms: 12 },
    ]);
  });

  it("are refused where longer prompts took no longer", () => {
    const prompts = [
      { promptTokens: 50, firstMs: 9 },
      { promptTokens: 400, firstMs: 8 },
    ];
    const replies = [{ replies: 1, tokens: 2, firstMs: 1, totalMs: 2 }];
    expect(() => fitServiceTimes({ parallel: 1, kvTokens: 1 }, { prompts, replies })).toThrow(BenchError);
  });

  it("give each number of replies a step, on lines between those that were measured", () => {
    expect([...stepTable(service)].slice(1)).toEqual([10, 12, 14, 16, 18, 20, 22, 24]);
    expect([...stepTable({ ...service, decodeSteps: [{ replies: 4, ms: 9 }] })].slice(1, 4)).toEqual([
      9, 9, 9,
    ]);
  });

  it("are read from a file of their shape only", async () => {
    await expect(readServiceTimes(path.join(import.meta.dirname, "../../package.json"))).rejects.toThrow(
      BenchError,
    );
    await expect(readServiceTimes("/nowhere.json")).rejects.toThrow(BenchError);
  });
});
