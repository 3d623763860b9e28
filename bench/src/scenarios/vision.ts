// `vision`: replies are running when images arrive. The replies should keep their pace while these are encoded.
import { tinyVisionModel } from "@ingle/fixtures";
import { BenchError } from "../bench-error.ts";
import { freshImage, type ImageSize } from "../fresh-images.ts";
import type { Prompts } from "../prompts.ts";
import {
  charted,
  lowerIsBetter,
  serverSubjects,
  type CaseContext,
  type Measured,
  type ModelChoice,
  type Scenario,
} from "../scenario.ts";
import { largest, median, percentile } from "../statistics.ts";
import { timeToFirstToken, type StreamRecord, type StreamRequest, userRequest } from "../stream-record.ts";
import { streamAll, type ModelFiles } from "../subject.ts";
import { besideStreams } from "./running-streams.ts";

const streams = 8;
const streamPromptTokens = 50;
/** More than can be generated before the images are computed, and less than fits a slot. */
const streamTokensMax = 1_900;
/** Pieces after which a stream counts as steady … */
const warmPieces = 16;
/** … and how many more of each arrive before the images: the undisturbed baseline. */
const calmPieces = 200;
const questionTokens = 20;
const replyTokens = 16;

const small = { width: 640, height: 480 };
/** Typical images: photographs and screenshots, and one tall page. */
const images: readonly ImageSize[] = [
  ...(["jpeg", "png", "jpeg", "png", "jpeg", "png", "jpeg"] as const).map((format) => ({ ...small, format })),
  { format: "jpeg", width: 1_000, height: 3_000 },
];
const first: ImageSize = { format: "jpeg", width: 256, height: 256 };

/**
 * A vision model of random weights, in which encoding a small image takes about as long as a few dozen tokens of all streams
 * together.
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
  const requests = await Promise.all(images.map(async (size) => await about(size, prompts)));
  // Keeps the first encoding out of the measurement.
  await subject.stream(await about(first, prompts));
  const texts = Array.from({ length: streams }, () => prompts.text(streamPromptTokens));
  const running = { texts, maxTokens: streamTokensMax, warmPieces: warmPieces + calmPieces };
  const send = (): Promise<StreamRecord[]> => streamAll(subject, requests, { signal });
  const beside = await besideStreams({ subject, signal }, running, send);
  return measureRhythm(beside.result, beside.streams);
}

async function about(size: ImageSize, prompts: Prompts): Promise<StreamRequest> {
  const request = userRequest(prompts.text(questionTokens), replyTokens);
  return { ...request, images: [await freshImage(prompts, size)] };
}

/**
 * Gaps of the running replies before the images, and from the first image's arrival to the last one's first token. A gap that
 * reaches into that time counts fully. Throws BenchError if a stream ended before that.
 */
export function measureRhythm(replies: readonly StreamRecord[], others: readonly StreamRecord[]): Measured {
  const cameAt = Math.min(...replies.map(({ sentAtMs }) => sentAtMs));
  const readAt = Math.max(...replies.map((record) => record.sentAtMs + timeToFirstToken(record)));
  if (others.some(({ arrivalsMs }) => (arrivalsMs.at(-1) ?? 0) < readAt))
    throw new BenchError("A stream ended before the images were computed; the figures would be too good.");
  const warmAt = Math.max(...others.map(({ arrivalsMs }) => arrivalsMs[warmPieces - 1] ?? cameAt));
  const all = others.flatMap(waits);
  const before = all.filter(({ fromMs, toMs }) => fromMs >= warmAt && toMs < cameAt).map(waitMs);
  const beside = all.filter(({ fromMs, toMs }) => fromMs < readAt && toMs >= cameAt).map(waitMs);
  const ttfts = replies.map(timeToFirstToken);
  const values = {
    longestGapMs: largest(beside),
    longestGapBeforeMs: largest(before),
    longestGapRatio: largest(beside) / largest(before),
    gapP99Ms: percentile(beside, 99),
    gapP99BeforeMs: percentile(before, 99),
    ttftP50Ms: median(ttfts),
    ttftMaxMs: largest(ttfts),
  };
  return { values, requests: [...replies, ...others] };
}

interface Wait {
  fromMs: number;
  toMs: number;
}

function waits({ arrivalsMs }: StreamRecord): Wait[] {
  return arrivalsMs.slice(1).map((toMs, index) => ({ fromMs: arrivalsMs[index] ?? toMs, toMs }));
}

function waitMs({ fromMs, toMs }: Wait): number {
  return toMs - fromMs;
}

async function prepareModel({ model, mmproj, signal }: ModelChoice): Promise<ModelFiles> {
  if (mmproj !== undefined) return { model, mmproj };
  const tiny = await tinyVisionModel(shape, { signal });
  return { model: tiny.model, mmproj: tiny.projector };
}

export const vision: Scenario = {
  name: "vision",
  meaning: `${streams} replies are running when ${images.length} images arrive together, ${images.length - 1} of ${small.width} × ${small.height} and a long one; allSubjects has ${streams + images.length} places.`,
  subjects: serverSubjects,
  measures: [
    charted(lowerIsBetter("longestGapMs", "longest gap of the running replies", "ms")),
    lowerIsBetter("longestGapBeforeMs", "the same, undisturbed", "ms"),
    charted(lowerIsBetter("longestGapRatio", "longest gap to the undisturbed one", "×")),
    lowerIsBetter("gapP99Ms", "gap of the running replies, p99", "ms"),
    lowerIsBetter("gapP99BeforeMs", "the same, undisturbed", "ms"),
    charted(lowerIsBetter("ttftP50Ms", "time to first token of an image, p50", "ms")),
    lowerIsBetter("ttftMaxMs", "the same, the last one", "ms"),
  ],
  cases: [
    {
      name: `${streams} streams and ${images.length} images`,
      model: prepareModel,
      slots: streams + images.length,
      run,
    },
  ],
};
