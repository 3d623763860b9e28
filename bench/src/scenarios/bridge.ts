// `bridge`: a model so small that HTTP, JSON and the way from the engine's thread into the server's are what is left.
import { tinyModel } from "@ingle/fixtures";
import { servers, type CaseContext, type Measured, type Scenario } from "../scenario.ts";
import { percentile } from "../statistics.ts";
import { gaps, type StreamRecord, type StreamRequest } from "../stream-record.ts";
import { streamAll } from "../subject.ts";
import { totalSpeed } from "./total-speed.ts";

const clients = 8;
const promptTokens = 20;
const answerTokens = 256;
/** As small as a model with a real vocabulary gets. */
const shape = { layers: 1, embedding: 32, heads: 2, kvHeads: 1, feedForward: 64 };

async function run({ subject, prompts }: CaseContext): Promise<Measured> {
  const wave = async (): Promise<StreamRecord[]> => {
    const request = (): StreamRequest => ({
      messages: [{ role: "user", content: prompts.text(promptTokens) }],
      maxTokens: answerTokens,
    });
    return await streamAll(subject, Array.from({ length: clients }, request));
  };
  await wave(); // so that no compiler is at work while we measure
  const requests = await wave();
  const values = {
    tokensPerSecond: totalSpeed(requests),
    gapP99Ms: percentile(requests.flatMap(gaps), 99),
  };
  return { values, requests };
}

export const bridge: Scenario = {
  name: "bridge",
  meaning: `A model that computes next to nothing: ${clients} clients with answers of ${answerTokens} tokens.`,
  subjects: servers,
  measures: [
    {
      key: "tokensPerSecond",
      title: "streamed by all together",
      unit: "tokens/s",
      better: "higher",
      isDrawn: true,
    },
    { key: "gapP99Ms", title: "gap between tokens, p99", unit: "ms", better: "lower" },
  ],
  cases: [
    {
      name: `${clients} clients`,
      model: async ({ tinyModel: given, signal }) => ({
        model: given ?? (await tinyModel(shape, { signal })),
      }),
      run,
    },
  ],
};
