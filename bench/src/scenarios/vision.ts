// `vision`: answers are running when people send pictures. The answers should keep their rhythm while these are encoded.
import { tinyVisionModel } from "@ingle/fixtures";
import { BenchError } from "../bench-error.ts";
import { freshPicture, type PictureSize } from "../fresh-pictures.ts";
import type { Prompts } from "../prompts.ts";
import { servers, type CaseContext, type Measured, type ModelChoice, type Scenario } from "../scenario.ts";
import { largest, median, percentile } from "../statistics.ts";
import { timeToFirstToken, type StreamRecord, type StreamRequest } from "../stream-record.ts";
import { streamAll, type ModelFiles } from "../subject.ts";
import { besideStreams } from "./running-streams.ts";

const streams = 8;
const streamPromptTokens = 50;
/** More than can be generated before the pictures are read, and less than a place has room for. */
const streamTokensMax = 1_900;
/** Pieces after which a stream has found its rhythm … */
const warmPieces = 16;
/** … and so many more of each before the pictures come: what the streams are like undisturbed. */
const calmPieces = 200;
const questionTokens = 20;
const answerTokens = 16;

const small = { width: 640, height: 480 };
/** What people send: photographs and screenshots, and one page that is long. */
const pictures: readonly PictureSize[] = [
  ...(["jpeg", "png", "jpeg", "png", "jpeg", "png", "jpeg"] as const).map((format) => ({ ...small, format })),
  { format: "jpeg", width: 1_000, height: 3_000 },
];
const first: PictureSize = { format: "jpeg", width: 256, height: 256 };

/**
 * A model that sees, of random weights, in which encoding a small picture takes about as long as some dozen tokens of all
 * streams together.
 */
const shape = {
  architecture: "lfm2",
  layers: 8,
  embedding: 512,
  heads: 8,
  kvHeads: 2,
  feedForward: 2_048,
  tokens: 8_000,
  weights: "f16",
  projector: { embedding: 384, heads: 6, feedForward: 1_536, layers: 6 },
} as const;

async function run({ subject, prompts, signal }: CaseContext): Promise<Measured> {
  const requests = await Promise.all(pictures.map(async (size) => await about(size, prompts)));
  // So that nobody is measured while it encodes for the first time.
  await subject.stream(await about(first, prompts));
  const texts = Array.from({ length: streams }, () => prompts.text(streamPromptTokens));
  const running = { texts, maxTokens: streamTokensMax, warmPieces: warmPieces + calmPieces };
  const send = (): Promise<StreamRecord[]> => streamAll(subject, requests, { signal });
  const beside = await besideStreams({ subject, signal }, running, send);
  return measureRhythm(beside.result, beside.streams);
}

async function about(size: PictureSize, prompts: Prompts): Promise<StreamRequest> {
  return {
    messages: [{ role: "user", content: prompts.text(questionTokens) }],
    images: [await freshPicture(prompts, size)],
    maxTokens: answerTokens,
  };
}

/**
 * The running answers while they were alone and from the first picture's arrival to the last one's first token. A gap that
 * reaches into that time belongs to it in full. Throws BenchError when a stream ended before that.
 */
export function measureRhythm(answers: readonly StreamRecord[], others: readonly StreamRecord[]): Measured {
  const cameAt = Math.min(...answers.map(({ sentAtMs }) => sentAtMs));
  const readAt = Math.max(...answers.map((record) => record.sentAtMs + timeToFirstToken(record)));
  if (others.some(({ arrivalsMs }) => (arrivalsMs.at(-1) ?? 0) < readAt))
    throw new BenchError("A stream ended before the pictures were read; the figures would be too good.");
  const warmAt = Math.max(...others.map(({ arrivalsMs }) => arrivalsMs[warmPieces - 1] ?? cameAt));
  const all = others.flatMap(waits);
  const before = all.filter(({ fromMs, toMs }) => fromMs >= warmAt && toMs < cameAt).map(lengthOf);
  const beside = all.filter(({ fromMs, toMs }) => fromMs < readAt && toMs >= cameAt).map(lengthOf);
  const ttfts = answers.map(timeToFirstToken);
  const values = {
    longestGapMs: largest(beside),
    longestGapBeforeMs: largest(before),
    longestGapRatio: largest(beside) / largest(before),
    gapP99Ms: percentile(beside, 99),
    gapP99BeforeMs: percentile(before, 99),
    ttftP50Ms: median(ttfts),
    ttftMaxMs: largest(ttfts),
  };
  return { values, requests: [...answers, ...others] };
}

interface Wait {
  fromMs: number;
  toMs: number;
}

function waits({ arrivalsMs }: StreamRecord): Wait[] {
  return arrivalsMs.slice(1).map((toMs, index) => ({ fromMs: arrivalsMs[index] ?? toMs, toMs }));
}

function lengthOf({ fromMs, toMs }: Wait): number {
  return toMs - fromMs;
}

async function modelOf({ model, mmproj, signal }: ModelChoice): Promise<ModelFiles> {
  if (mmproj !== undefined) return { model, mmproj };
  const tiny = await tinyVisionModel(shape, { signal });
  return { model: tiny.model, mmproj: tiny.projector };
}

export const vision: Scenario = {
  name: "vision",
  meaning: `${streams} answers are running when ${pictures.length} pictures arrive together, ${pictures.length - 1} of ${small.width} × ${small.height} and a long one; everyone has ${streams + pictures.length} places.`,
  subjects: servers,
  measures: [
    {
      key: "longestGapMs",
      title: "longest gap of the running answers",
      unit: "ms",
      better: "lower",
      isDrawn: true,
    },
    { key: "longestGapBeforeMs", title: "the same, undisturbed", unit: "ms", better: "lower" },
    {
      key: "longestGapRatio",
      title: "longest gap to the undisturbed one",
      unit: "×",
      better: "lower",
      isDrawn: true,
    },
    { key: "gapP99Ms", title: "gap of the running answers, p99", unit: "ms", better: "lower" },
    { key: "gapP99BeforeMs", title: "the same, undisturbed", unit: "ms", better: "lower" },
    {
      key: "ttftP50Ms",
      title: "time to first token of a picture, p50",
      unit: "ms",
      better: "lower",
      isDrawn: true,
    },
    { key: "ttftMaxMs", title: "the same, the last one", unit: "ms", better: "lower" },
  ],
  cases: [
    {
      name: `${streams} streams and ${pictures.length} pictures`,
      model: modelOf,
      slots: streams + pictures.length,
      run,
    },
  ],
};
