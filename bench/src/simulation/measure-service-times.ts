// `bench service-times`: measures one replica's times for prompts and for concurrent replies, for the simulation.
import { startHttpSubject } from "../http-subject.ts";
import { assertIdle, describeMachine, describeModel } from "../machine.ts";
import type { BenchOptions } from "../options.ts";
import { writeResults } from "../results.ts";
import { besideStreams } from "../scenarios/running-streams.ts";
import type { PeerOptions } from "../peers.ts";
import { makePrompts, deriveSeed, type Prompts, measureTokensPerWord } from "../prompts.ts";
import { timeToFirstToken, userRequest } from "../stream-record.ts";
import { contextLength, streamAll, type Subject } from "../subject.ts";
import { withPromptsBeside, type BesideSample } from "./prompts-beside-replies.ts";
import { fitServiceTimes, type PromptSample, type ReplySample } from "./service-times.ts";

/** Lengths of the prompts measured alone, in tokens. */
const promptLengths = [64, 128, 256, 512];
/** A short prompt makes concurrent replies start nearly together; the reply is long. */
const crowdPromptTokens = 8;
const replyTokens = 96;
/** A prompt arrives beside a reply after this many of its tokens; it has more than can be generated meanwhile. */
const besideAfterTokens = 8;
const besideReplyTokens = 1_200;

interface ServiceTimesRun extends Omit<BenchOptions, "model">, PeerOptions {
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
  const beside: BesideSample[] = [];
  const warmUp = makePrompts(deriveSeed(seed, "warm-up"), tokensPerWord);
  await subject.stream(userRequest(warmUp.text(16), 4));
  for (let round = 0; round < rounds; round += 1) {
    const texts = makePrompts(deriveSeed(seed, `round ${round}`), tokensPerWord);
    prompts.push(...(await measurePrompts(subject, texts)));
    for (const crowd of crowdsUpTo(slots)) {
      replies.push(...(await measureCrowd(subject, texts, crowd)));
      say(`Round ${round + 1} of ${rounds}: ${crowd} ${crowd === 1 ? "reply" : "replies"} at a time.`);
    }
    if (slots > 1) beside.push(...(await measureBeside({ subject, signal }, texts)));
  }
  const size = { parallel: slots, kvTokens: slots * contextLength };
  const about = { startedAt, machine, model: modelFile, threads, rounds, seed, wasForced: force };
  const alone = { ...fitServiceTimes(size, { prompts, replies }), about };
  const times = slots === 1 ? alone : withPromptsBeside(alone, beside);
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

/** Prompts that arrive while a reply is running, each beside a reply of its own. */
async function measureBeside(
  { subject, signal }: { subject: Subject; signal: AbortSignal },
  texts: Prompts,
): Promise<BesideSample[]> {
  const samples: BesideSample[] = [];
  for (const length of promptLengths) {
    const running = {
      texts: [texts.text(crowdPromptTokens)],
      maxTokens: besideReplyTokens,
      warmPieces: besideAfterTokens,
    };
    const request = userRequest(texts.text(length), 1);
    const { result, streams } = await besideStreams({ subject, signal }, running, () =>
      subject.stream(request),
    );
    const sentAtMs = streams[0]?.sentAtMs ?? Number.NaN;
    samples.push({
      running: { at: 0, session: 0, promptTokens: crowdPromptTokens, replyTokens: besideReplyTokens },
      arriving: {
        at: result.sentAtMs - sentAtMs,
        session: 1,
        promptTokens: result.computedTokens,
        replyTokens: 1,
      },
      firstMs: timeToFirstToken(result),
    });
  }
  return samples;
}
