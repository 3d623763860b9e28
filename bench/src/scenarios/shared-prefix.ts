// `shared-prefix`: several users of one application with the same long system prompt.
import {
  charted,
  lowerIsBetter,
  allSubjects,
  type CaseContext,
  type Measured,
  type Scenario,
} from "../scenario.ts";
import { median, sum } from "../statistics.ts";
import { timeToFirstToken, type StreamRequest, wallTime } from "../stream-record.ts";
import { streamAll } from "../subject.ts";

const clients = 8;
const systemTokens = 800;
const questionTokens = 20;
const replyTokens = 32;

async function run({ subject, prompts }: CaseContext): Promise<Measured> {
  const system = prompts.text(systemTokens);
  const request = (): StreamRequest => ({
    messages: [
      { role: "system", content: system },
      { role: "user", content: prompts.text(questionTokens) },
    ],
    maxTokens: replyTokens,
  });
  const requests = await streamAll(subject, Array.from({ length: clients }, request));
  const values = {
    wallMs: wallTime(requests),
    ttftP50Ms: median(requests.map(timeToFirstToken)),
    computedTokens: sum(requests.map(({ computedTokens }) => computedTokens)),
  };
  return { values, requests };
}

export const sharedPrefix: Scenario = {
  name: "shared-prefix",
  meaning: `${clients} users of one application arrive together: one system prompt of ${systemTokens} tokens, different questions, replies of ${replyTokens}.`,
  subjects: allSubjects,
  measures: [
    charted(lowerIsBetter("wallMs", "until all have their replies", "ms")),
    charted(lowerIsBetter("ttftP50Ms", "time to first token, p50", "ms")),
    lowerIsBetter("computedTokens", "prompt tokens computed", "tokens"),
  ],
  cases: [{ name: `${clients} clients`, run }],
};
