// `bridge`: a model so small that only HTTP, JSON and the bridge from the engine's thread to the server's remain.
import { tinyModel } from "@ingle/fixtures";
import { servers, type CaseContext, type Measured, type Scenario } from "../scenario.ts";
import { percentile } from "../statistics.ts";
import { gaps, type StreamRecord, type StreamRequest } from "../stream-record.ts";
import { streamAll } from "../subject.ts";
import { totalSpeed } from "./total-speed.ts";

const clients = 8;
const promptTokens = 20;
const replyTokens = 256;
/** As small as a model with a real vocabulary can be. */
const shape = { layers: 1, embedding: 32, heads: 2, kvHeads: 1, feedForward: 64 };

async function run({ subject, prompts }: CaseContext): Promise<Measured> {
  const wave = async (): Promise<StreamRecord[]> => {
    const request = (): StreamRequest => ({
      messages: [{ role: "user", content: prompts.text(promptTokens) }],
      maxTokens: replyTokens,
    });
    return await streamAll(subject, Array.from({ length: clients }, request));
  };
  await wave(); // lets JavaScript's compiler finish before the measurement
  const requests = await wave();
  const values = {
    tokensPerSecond: totalSpeed(requests),
    gapP99Ms: percentile(requests.flatMap(gaps), 99),
  };
  return { values, requests };
}

export const bridge: Scenario = {
  name: "bridge",
  meaning: `A model that computes next to nothing: ${clients} clients with replies of ${replyTokens} tokens.`,
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
