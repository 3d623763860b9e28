// `bench service-times`: measures one replica's times for prompts and for concurrent replies, for the simulation.
import { startHttpSubject } from "../http-subject.ts";
import { assertIdle, describeMachine, describeModel } from "../machine.ts";
import type { BenchOptions } from "../options.ts";
import { writeResults } from "../results.ts";
import type { PeerOptions } from "../peers.ts";
import { makePrompts, seedOf, type Prompts, measureTokensPerWord } from "../prompts.ts";
import { timeToFirstToken, userRequest } from "../stream-record.ts";
import { contextLength, streamAll, type Subject } from "../subject.ts";
import { serviceTimesOf, type PromptSample, type ReplySample } from "./service-times.ts";
import { withWorkAfter, type CrowdSample } from "./work-after.ts";

/** Lengths of the prompts measured alone, in tokens. */
const promptLengths = [64, 128, 256, 512];
/** A short prompt makes concurrent replies start nearly together; the reply is long. */
const crowdPromptTokens = 8;
const replyTokens = 96;
/** Requests for each slot, sent at the same time to measure what a replica with a queue takes longer. */
const queuedPerSlot = 6;
const queuedPromptTokens = 64;
const queuedReplyTokens = 16;

export interface ServiceTimesRun extends Omit<BenchOptions, "model">, PeerOptions {
  model: string;
}

/** Measures and writes `<date>-service-times.json`. Returns the file. Throws BenchError, or the signal's reason. */
export async function measureServiceTimes(run: ServiceTimesRun): Promise<string> {
  const { model, threads, slots, rounds, force, seed, signal, say } = run;
  const startedAt = new Date();
  const [machine, modelFile] = [await describeMachine(signal), await describeModel(model, signal)];
  const tokensPerWord = await measureTokensPerWord(model, { signal });
  await assertIdle({ force, signal });
  await using subject = await startHttpSubject("ingle", { model, threads, slots, signal });
  const prompts: PromptSample[] = [];
  const replies: ReplySample[] = [];
  const crowds: CrowdSample[] = [];
  const warmUp = makePrompts(seedOf(seed, "warm-up"), tokensPerWord);
  await subject.stream(userRequest(warmUp.text(16), 4));
  for (let round = 0; round < rounds; round += 1) {
    const texts = makePrompts(seedOf(seed, `round ${round}`), tokensPerWord);
    prompts.push(...(await measurePrompts(subject, texts)));
    for (const crowd of crowdsUpTo(slots)) {
      replies.push(...(await measureCrowd(subject, texts, crowd)));
      say(`Round ${round + 1} of ${rounds}: ${crowd} ${crowd === 1 ? "reply" : "replies"} at a time.`);
    }
    crowds.push(await measureQueue(subject, texts, queuedPerSlot * slots));
    say(`Round ${round + 1} of ${rounds}: ${queuedPerSlot * slots} requests in a queue.`);
  }
  const size = { parallel: slots, kvTokens: slots * contextLength };
  const about = { startedAt, machine, model: modelFile, threads, rounds, seed, wasForced: force };
  const times = withWorkAfter({ ...serviceTimesOf(size, { prompts, replies }), about }, crowds);
  const [file = ""] = await writeResults(run.out, { name: "service-times", startedAt }, { json: times });
  return file;
}

/** 1, 2, 4 and so on, and `slots` itself. */
function crowdsUpTo(slots: number): number[] {
  const powers = Array.from({ length: 10 }, (_, power) => 2 ** power).filter((crowd) => crowd < slots);
  return [...powers, slots];
}

async function measurePrompts(subject: Subject, texts: Prompts): Promise<PromptSample[]> {
  const samples: PromptSample[] = [];
  for (const length of promptLengths) {
    const record = await subject.stream(userRequest(texts.text(length), 1));
    // The chat template's prefix is cached after the first one.
    samples.push({ promptTokens: record.computedTokens, firstMs: timeToFirstToken(record) });
  }
  return samples;
}

async function measureCrowd(subject: Subject, texts: Prompts, crowd: number): Promise<ReplySample[]> {
  const requests = Array.from({ length: crowd }, () =>
    userRequest(texts.text(crowdPromptTokens), replyTokens),
  );
  const records = await streamAll(subject, requests);
  return records.map((record) => ({
    replies: crowd,
    tokens: record.completionTokens,
    firstMs: timeToFirstToken(record),
    totalMs: record.endedAtMs - record.sentAtMs,
  }));
}

async function measureQueue(subject: Subject, texts: Prompts, requests: number): Promise<CrowdSample> {
  const asked = Array.from({ length: requests }, () =>
    userRequest(texts.text(queuedPromptTokens), queuedReplyTokens),
  );
  const startedAt = performance.now();
  const records = await streamAll(subject, asked);
  return {
    requests: records.map(({ computedTokens, completionTokens }) => ({
      promptTokens: computedTokens,
      replyTokens: completionTokens,
    })),
    totalMs: performance.now() - startedAt,
  };
}
