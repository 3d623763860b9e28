// `mixed`: replies are running when a long prompt arrives. The replies should not freeze during its prefill.
import { BenchError } from "../bench-error.ts";
import {
  charted,
  lowerIsBetter,
  serverSubjects,
  type CaseContext,
  type Measured,
  type Scenario,
} from "../scenario.ts";
import { largest, median } from "../statistics.ts";
import { gaps, timeToFirstToken, type StreamRecord, userRequest } from "../stream-record.ts";
import { besideStreams } from "./running-streams.ts";

const streams = 3;
const streamPromptTokens = 50;
/** More than can be generated before the long prompt is computed; the clients disconnect after that. */
const streamTokensMax = 1_200;
/** Pieces that every stream receives before the long prompt is sent. */
const warmPieces = 16;
/** About 900 words of English. */
const longPromptTokens = 1_200;
const longReplyTokens = 16;

async function run({ subject, prompts, signal }: CaseContext): Promise<Measured> {
  const texts = Array.from({ length: streams }, () => prompts.text(streamPromptTokens));
  const long = userRequest(prompts.text(longPromptTokens), longReplyTokens);
  const running = { texts, maxTokens: streamTokensMax, warmPieces };
  const beside = await besideStreams({ subject, signal }, running, () => subject.stream(long));
  return measure(beside.result, beside.streams);
}

/** Only gaps during the long prompt count as disturbed. */
function measure(long: StreamRecord, others: readonly StreamRecord[]): Measured {
  const firstTokenAt = long.sentAtMs + timeToFirstToken(long);
  if (others.some(({ endedAtMs }) => endedAtMs < firstTokenAt))
    throw new BenchError("A stream ended before the long prompt was read; the figures would be too good.");
  const before = others.flatMap((record) => gaps(cut(record, long.sentAtMs)));
  const longest = largest(others.flatMap(gaps));
  const values = {
    longestGapMs: longest,
    gapP50BeforeMs: median(before),
    longestGapRatio: longest / median(before),
    longTtftMs: timeToFirstToken(long),
  };
  return { values, requests: [long, ...others] };
}

function cut(record: StreamRecord, atMs: number): StreamRecord {
  const arrivalsMs = record.arrivalsMs.filter((time) => time < atMs);
  return { ...record, arrivalsMs, endedAtMs: arrivalsMs.at(-1) ?? atMs };
}

export const mixed: Scenario = {
  name: "mixed",
  meaning: `${streams} replies are running when a prompt of ${longPromptTokens} tokens arrives.`,
  subjects: serverSubjects,
  measures: [
    charted(lowerIsBetter("longestGapMs", "longest gap of the running replies", "ms")),
    charted(lowerIsBetter("longTtftMs", "time to first token of the long prompt", "ms")),
    lowerIsBetter("gapP50BeforeMs", "gap before it arrived, p50", "ms"),
    lowerIsBetter("longestGapRatio", "longest gap to the gap before", "×"),
  ],
  cases: [{ name: `${streams} streams and a long prompt`, run }],
};
