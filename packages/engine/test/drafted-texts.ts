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
