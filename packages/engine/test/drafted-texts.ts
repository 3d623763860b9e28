// What drafts must never change: texts of requests at once, and what a cancelled one leaves behind.
import type { GenerationRequest, LoadedModel } from "@ingle/engine";
import { until } from "@ingle/fixtures";
import { expect } from "vitest";
import { prompts, within } from "./tiny.ts";

/** All requests at once, twice, beside another one that is cancelled: each gives its text. */
export async function expectTextsTogether(
  { model }: LoadedModel,
  requests: readonly GenerationRequest[],
  texts: readonly string[],
): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    const leaving = model.generate({ prompt: `leaves soon ${round}`, temperature: 0, maxTokens: 200 });
    setTimeout(() => leaving.cancel(), 15);
    const together = await within(
      60_000,
      Promise.all(requests.map(async (request) => (await model.generate(request)).text)),
    );
    expect(together).toEqual(texts);
  }
}

/** Eight requests at once, for which `tight` has too little room, give the texts that `plain` gives each alone, and leave nothing behind. */
export async function expectSameTextsWhenPreempted(tight: LoadedModel, plain: LoadedModel): Promise<void> {
  const requests = prompts(8).map((prompt) => ({ prompt, temperature: 0, maxTokens: 150 }));
  const expected: string[] = [];
  for (const request of requests) expected.push((await plain.model.generate(request)).text);
  await expectTextsTogether(tight, requests, expected);
  expect(tight.model.stats().preemptions).toBeGreaterThan(0);
  await until(() => tight.model.stats().running === 0);
  expect(tight.model.stats().cellsUsed).toBe(0);
}

/** Where drafts are nearly always wrong, few are made, and texts are those without. */
export async function expectRest(wrong: LoadedModel, without: LoadedModel): Promise<void> {
  for (const prompt of prompts(4)) {
    const request = { prompt, temperature: 0, maxTokens: 150 };
    expect((await wrong.model.generate(request)).text).toBe((await without.model.generate(request)).text);
  }
  expect(wrong.model.stats().draftedTokens).toBeLessThan(200);
}

/** A request that is cancelled at several points, while drafts are verified, holds no cells afterwards. */
export async function expectFreedWhenCancelled(
  { model }: LoadedModel,
  request: GenerationRequest,
  { rounds, piecesPerRound }: { rounds: number; piecesPerRound: number },
): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    let pieces = 0;
    for await (const _ of model.generate(request)) if ((pieces += 1) > piecesPerRound * round) break;
    await until(() => model.stats().running === 0);
    expect(model.stats().cellsUsed).toBe(0);
  }
}

/**
 * Drafts are accepted, and some of them taken back. Drafting starts once it seems to pay, which a busy machine finds out late. Sampled texts
 * follow the drafts of greedy ones only now and then.
 */
export async function expectDraftsTakenBack({ model }: LoadedModel): Promise<void> {
  const isDone = (): boolean => {
    const { draftedTokens, acceptedTokens } = model.stats();
    return acceptedTokens > 50 && draftedTokens > acceptedTokens;
  };
  for (let more = 0; more < 80 && !isDone(); more += 1) {
    const prompt = prompts(8)[more % 8] ?? "";
    await model.generate({ prompt, temperature: more % 2 === 1 ? 0.4 : 0, seed: more, maxTokens: 200 });
  }
  expect(model.stats().acceptedTokens).toBeGreaterThan(50);
  expect(model.stats().draftedTokens).toBeGreaterThan(model.stats().acceptedTokens);
}
