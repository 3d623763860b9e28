import { expect, it } from "vitest";
import { withPromptsBeside, type BesideSample } from "./prompts-beside-replies.ts";
import type { ServiceTimes } from "./service-times.ts";
import { fixedReplicas, simulate } from "./simulation.ts";
import { Script } from "./workload.ts";

const service: ServiceTimes = {
  about: {},
  parallel: 2,
  kvTokens: 10_000,
  decodeSteps: [{ replies: 1, ms: 10 }],
  promptTokenMs: 1,
  requestMs: 5,
};

/** What a client would measure on a replica with these times. */
function simulateSample(times: ServiceTimes, promptTokens: number): BesideSample {
  const running = { at: 0, session: 0, promptTokens: 10, replyTokens: 200 };
  const arriving = { at: 100, session: 1, promptTokens, replyTokens: 1 };
  const firsts: number[] = [];
  simulate({
    service: times,
    rules: fixedReplicas(1),
    source: new Script([running, arriving]),
    onEnd: ({ firstMs }) => firsts.push(firstMs),
  });
  return { running, arriving, firstMs: firsts[0] ?? Number.NaN };
}

it("finds what a prompt costs beside a reply", () => {
  const samples = [50, 120, 300].map((tokens) => simulateSample({ ...service, besideTokenMs: 1.6 }, tokens));
  expect(withPromptsBeside(service, samples).besideTokenMs).toBeCloseTo(1.6, 6);
});

it("finds no less than alone", () => {
  const sample = simulateSample(service, 100);
  const faster = { ...sample, firstMs: 0.8 * sample.firstMs };
  expect(withPromptsBeside(service, [faster]).besideTokenMs).toBe(1);
});
