// `bridge`: a model so small that only HTTP, JSON and the bridge from the engine's thread to the server's remain.
import { tinyModel } from "@ingle/fixtures";
import {
  charted,
  higherIsBetter,
  lowerIsBetter,
  serverSubjects,
  type CaseContext,
  type Measured,
  type Scenario,
} from "../scenario.ts";
import { percentile } from "../statistics.ts";
import { gaps, type StreamRecord, type StreamRequest, totalSpeed, userRequest } from "../stream-record.ts";
import { streamAll } from "../subject.ts";

const clients = 8;
const promptTokens = 20;
const replyTokens = 256;
/** As small as a model with a real vocabulary can be. */
export const bridgeShape = { layers: 1, embedding: 32, heads: 2, kvHeads: 1, feedForward: 64 };

async function run({ subject, prompts }: CaseContext): Promise<Measured> {
  const request = (): StreamRequest => userRequest(prompts.text(promptTokens), replyTokens);
  const wave = (): Promise<StreamRecord[]> => streamAll(subject, Array.from({ length: clients }, request));
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
  subjects: serverSubjects,
  measures: [
    charted(higherIsBetter("tokensPerSecond", "streamed by all together", "tokens/s")),
    lowerIsBetter("gapP99Ms", "gap between tokens, p99", "ms"),
  ],
  cases: [
    {
      name: `${clients} clients`,
      model: async ({ tinyModel: given, signal }) => ({
        model: given ?? (await tinyModel(bridgeShape, { signal })),
      }),
      run,
    },
  ],
};
