// `sampling`: what random sampling costs compared with greedy decoding, for a small and a large vocabulary.
import { tinyModel } from "@ingle/fixtures";
import { servers, type CaseContext, type Measured, type Scenario, type ScenarioCase } from "../scenario.ts";
import { median } from "../statistics.ts";
import { decodeSpeed, type StreamRecord, type StreamRequest } from "../stream-record.ts";

const promptTokens = 20;
const replyTokens = 256;
/** Pairs of a greedy and a sampled reply; the result is the median of their differences. */
const pairs = 5;
const usual = { temperature: 0.8, topK: 40, topP: 0.95 };
/** Nearly all of the computation is the output head. */
const shape = { layers: 1, embedding: 32, heads: 2, kvHeads: 1, feedForward: 64 };

async function run({ subject, prompts }: CaseContext): Promise<Measured> {
  const answer = async (sampling?: StreamRequest["sampling"]): Promise<StreamRecord> =>
    await subject.stream({
      messages: [{ role: "user", content: prompts.text(promptTokens) }],
      maxTokens: replyTokens,
      ...(sampling === undefined ? {} : { sampling }),
    });
  const greedy: StreamRecord[] = [];
  const sampled: StreamRecord[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    greedy.push(await answer());
    sampled.push(await answer({ ...usual, seed: pair }));
  }
  const greedyMicros = greedy.map(microsPerToken);
  const sampledMicros = sampled.map(microsPerToken);
  const values = {
    addedMicros: median(sampledMicros.map((micros, pair) => micros - (greedyMicros[pair] ?? Number.NaN))),
    greedyMicros: median(greedyMicros),
    sampledMicros: median(sampledMicros),
  };
  return { values, requests: [...greedy, ...sampled] };
}

function microsPerToken(record: StreamRecord): number {
  return 1e6 / decodeSpeed(record);
}

function vocabularyCase(name: string, vocabulary: string): ScenarioCase {
  return {
    name,
    model: async ({ signal }) => ({ model: await tinyModel({ ...shape, vocabulary }, { signal }) }),
    run,
  };
}

export const sampling: Scenario = {
  name: "sampling",
  meaning: `What a token costs more at temperature ${usual.temperature}, top_k ${usual.topK}, top_p ${usual.topP} than a greedy one.`,
  subjects: servers,
  measures: [
    { key: "addedMicros", title: "added by sampling, per token", unit: "µs", better: "lower", isDrawn: true },
    { key: "greedyMicros", title: "a greedy token", unit: "µs", better: "lower" },
    { key: "sampledMicros", title: "a sampled token", unit: "µs", better: "lower" },
  ],
  cases: [vocabularyCase("32,000 tokens", "llama-spm"), vocabularyCase("152,000 tokens", "qwen2")],
};
