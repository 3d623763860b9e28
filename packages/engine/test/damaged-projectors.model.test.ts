// Projectors with damaged headers, loaded natively in a child process and used to encode an image or audio: each is an EngineError or works, and
// none crashes the process.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  makeTinyProjector,
  tinyAudioModel,
  tinyVisionModel,
  type AudioEncoderType,
  type ProjectorType,
} from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { extremeFields, flippedBytes, oddShapes, oneIn, truncations } from "./damage.ts";
import { limitMs, outcomes } from "./damaged-loads.ts";

/** As small as possible: the model and its projector are loaded thousands of times. */
const width = 32;
const smallest = { tokens: 280, embedding: width, feedForward: 32, headSize: width, layers: 2 };
const smallestProjector = { projection: width, embedding: width, feedForward: 32, layers: 1 };

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-projectors-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

const codes = new Set([
  "ok",
  "model_invalid",
  "model_unsupported",
  "projector_mismatch",
  "out_of_memory",
  "invalid_request",
  "engine_failed",
]);

interface Case {
  architecture: "lfm2" | "gemma3" | "qwen2vl";
  type?: ProjectorType;
  audio?: AudioEncoderType;
}

const cases: Case[] = [
  { architecture: "lfm2", type: "lfm2" },
  { architecture: "gemma3", type: "gemma3" },
  { architecture: "qwen2vl", type: "qwen2vl_merger" },
  { architecture: "lfm2", audio: "ultravox" },
  { architecture: "qwen2vl", audio: "qwen2a" },
  { architecture: "lfm2", audio: "lfm2a" },
];

describe.each(cases)("a projector for $architecture ($type $audio)", ({ architecture, type, audio }) => {
  const encoders = { ...(type === undefined ? {} : { type }), ...(audio === undefined ? {} : { audio }) };
  test.each([
    { name: "fields at their extremes", make: extremeFields, refusedMin: 0.8 },
    { name: "bytes turned", make: flippedBytes, refusedMin: 0.7 },
    { name: "files cut off", make: truncations, refusedMin: 1 },
    { name: "odd shapes and types", make: oddShapes, refusedMin: 0.9 },
  ])(
    "$name",
    async ({ make, refusedMin }) => {
      const options = { architecture, ...smallest };
      const { model } =
        audio === undefined ? await tinyVisionModel(options) : await tinyAudioModel({ ...options, audio });
      const whole = path.join(folder, `${type ?? audio}.gguf`);
      await makeTinyProjector(whole, { ...encoders, ...smallestProjector });
      const damages = oneIn(23, make(await readFile(whole)));
      const results = await outcomes({ whole, model, damages });
      expect(results).toHaveLength(damages.length);
      expect([...new Set(results)].filter((result) => !codes.has(result))).toEqual([]);
      const refused = results.filter((result) => result !== "ok").length;
      expect(refused / results.length).toBeGreaterThanOrEqual(refusedMin);
    },
    limitMs,
  );
});
