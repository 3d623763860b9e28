// `structured`: the additional cost of a token when the reply is constrained by a JSON schema.
import { tinyModel } from "@ingle/fixtures";
import { servers, type CaseContext, type Measured, type Scenario } from "../scenario.ts";
import { median } from "../statistics.ts";
import { decodeSpeed, type StreamRecord } from "../stream-record.ts";

const promptTokens = 60;
const replyTokens = 128;
/** Pairs of a free and a constrained reply; the result uses the medians of each. */
const pairs = 4;
/** Nearly all of the computation is the output head. */
const shape = { layers: 1, embedding: 32, heads: 2, kvHeads: 1, feedForward: 64, vocabulary: "qwen2" };

/** A typical schema: objects with texts, numbers, choices and lists. More of them than fit the reply. */
const schema = {
  type: "object",
  properties: {
    people: {
      type: "array",
      minItems: 100,
      items: {
        type: "object",
        properties: {
          name: { type: "string" },
          age: { type: "integer" },
          height: { type: "number" },
          isMember: { type: "boolean" },
          role: { enum: ["author", "editor", "reader"] },
          address: {
            type: "object",
            properties: { street: { type: "string" }, city: { type: "string" } },
            required: ["street", "city"],
            additionalProperties: false,
          },
          tags: { type: "array", items: { type: "string" } },
        },
        required: ["name", "age", "height", "isMember", "role", "address", "tags"],
        additionalProperties: false,
      },
    },
  },
  required: ["people"],
  additionalProperties: false,
};

async function run({ subject, prompts }: CaseContext): Promise<Measured> {
  const answer = async (constraint: { schema?: object }): Promise<StreamRecord> =>
    await subject.stream({
      messages: [{ role: "user", content: prompts.text(promptTokens) }],
      maxTokens: replyTokens,
      ...constraint,
    });
  // The first reply with a schema also compiles it.
  await answer({ schema });
  const free: StreamRecord[] = [];
  const constrained: StreamRecord[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    free.push(await answer({}));
    constrained.push(await answer({ schema }));
  }
  const freeMicros = median(free.map(microsPerToken));
  const constrainedMicros = median(constrained.map(microsPerToken));
  const values = { ratio: constrainedMicros / freeMicros, freeMicros, constrainedMicros };
  return { values, requests: [...free, ...constrained] };
}

function microsPerToken(record: StreamRecord): number {
  return 1e6 / decodeSpeed(record);
}

export const structured: Scenario = {
  name: "structured",
  meaning: "What a token of a reply that follows a JSON schema costs, beside one of a free reply.",
  subjects: servers,
  measures: [
    {
      key: "ratio",
      title: "a constrained token, in free ones",
      unit: "×",
      better: "lower",
      isDrawn: true,
    },
    { key: "freeMicros", title: "a free token", unit: "µs", better: "lower" },
    { key: "constrainedMicros", title: "a constrained token", unit: "µs", better: "lower" },
  ],
  cases: [
    { name: "the model of the run", run },
    {
      name: "152,000 tokens, hardly any weights",
      model: async ({ signal }) => ({ model: await tinyModel(shape, { signal }) }),
      run,
    },
  ],
};
