// What one token costs more than usual: `sampling` compares random sampling with greedy decoding, for a small and a large
// vocabulary; `structured` compares a reply that follows a JSON schema with a free one.
import { tinyModel } from "@ingle/fixtures";
import {
  charted,
  lowerIsBetter,
  serverSubjects,
  type CaseContext,
  type Measured,
  type Scenario,
  type ScenarioCase,
} from "../scenario.ts";
import { median } from "../statistics.ts";
import { decodeSpeed, userRequest, type StreamRecord, type StreamRequest } from "../stream-record.ts";

interface PairOptions {
  promptTokens: number;
  replyTokens: number;
  pairs: number;
  /** The difference between the requests of a pair. */
  change: (pair: number) => Partial<StreamRequest>;
}

/** Alternates between usual and changed requests. */
async function inPairs(
  { subject, prompts }: CaseContext,
  { promptTokens, replyTokens, pairs, change }: PairOptions,
): Promise<{ usual: StreamRecord[]; changed: StreamRecord[] }> {
  const ask = (more: Partial<StreamRequest>): Promise<StreamRecord> =>
    subject.stream({ ...userRequest(prompts.text(promptTokens), replyTokens), ...more });
  const usual: StreamRecord[] = [];
  const changed: StreamRecord[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    usual.push(await ask({}));
    changed.push(await ask(change(pair)));
  }
  return { usual, changed };
}

function microsPerToken(record: StreamRecord): number {
  return 1e6 / decodeSpeed(record);
}

/** Nearly all of the computation is the output head. */
const shape = { layers: 1, embedding: 32, heads: 2, kvHeads: 1, feedForward: 64 };

function tinyCase(name: string, vocabulary: string, run: ScenarioCase["run"]): ScenarioCase {
  return {
    name,
    model: async ({ signal }) => ({ model: await tinyModel({ ...shape, vocabulary }, { signal }) }),
    run,
  };
}

const sampled = { temperature: 0.8, topK: 40, topP: 0.95 };

async function runSampling(context: CaseContext): Promise<Measured> {
  const change = (pair: number) => ({ sampling: { ...sampled, seed: pair } });
  const { usual, changed } = await inPairs(context, {
    promptTokens: 20,
    replyTokens: 256,
    pairs: 5,
    change,
  });
  const greedyMicros = usual.map(microsPerToken);
  const sampledMicros = changed.map(microsPerToken);
  const values = {
    addedMicros: median(sampledMicros.map((micros, pair) => micros - (greedyMicros[pair] ?? Number.NaN))),
    greedyMicros: median(greedyMicros),
    sampledMicros: median(sampledMicros),
  };
  return { values, requests: [...usual, ...changed] };
}

export const sampling: Scenario = {
  name: "sampling",
  meaning: `What a token costs more at temperature ${sampled.temperature}, top_k ${sampled.topK}, top_p ${sampled.topP} than a greedy one.`,
  subjects: serverSubjects,
  measures: [
    charted(lowerIsBetter("addedMicros", "added by sampling, per token", "µs")),
    lowerIsBetter("greedyMicros", "a greedy token", "µs"),
    lowerIsBetter("sampledMicros", "a sampled token", "µs"),
  ],
  cases: [
    tinyCase("32,000 tokens", "llama-spm", runSampling),
    tinyCase("152,000 tokens", "qwen2", runSampling),
  ],
};

/** An object that must have all of these properties and no others. */
function strictObject(properties: Record<string, object>): object {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

const text = { type: "string" };
/** A typical schema: objects with texts, numbers, choices and lists. More of them than fit the reply. */
const schema = strictObject({
  people: {
    type: "array",
    minItems: 100,
    items: strictObject({
      name: text,
      age: { type: "integer" },
      height: { type: "number" },
      isMember: { type: "boolean" },
      role: { enum: ["author", "editor", "reader"] },
      address: strictObject({ street: text, city: text }),
      tags: { type: "array", items: text },
    }),
  },
});

async function runStructured(context: CaseContext): Promise<Measured> {
  const pair = { promptTokens: 60, replyTokens: 128, change: () => ({ schema }) };
  // The first reply with a schema also compiles it.
  await inPairs(context, { ...pair, pairs: 1 });
  const { usual, changed } = await inPairs(context, { ...pair, pairs: 4 });
  const freeMicros = median(usual.map(microsPerToken));
  const constrainedMicros = median(changed.map(microsPerToken));
  const values = { ratio: constrainedMicros / freeMicros, freeMicros, constrainedMicros };
  return { values, requests: [...usual, ...changed] };
}

export const structured: Scenario = {
  name: "structured",
  meaning: "What a token of a reply that follows a JSON schema costs, beside one of a free reply.",
  subjects: serverSubjects,
  measures: [
    charted(lowerIsBetter("ratio", "a constrained token, in free ones", "×")),
    lowerIsBetter("freeMicros", "a free token", "µs"),
    lowerIsBetter("constrainedMicros", "a constrained token", "µs"),
  ],
  cases: [
    { name: "the model of the run", run: runStructured },
    tinyCase("152,000 tokens, hardly any weights", "qwen2", runStructured),
  ],
};
