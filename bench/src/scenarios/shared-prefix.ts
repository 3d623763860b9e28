// `shared-prefix`: several users of one application with the same long system prompt.
import { everyone, type CaseContext, type Measured, type Scenario } from "../scenario.ts";
import { median, sum } from "../statistics.ts";
import { timeToFirstToken, type StreamRequest } from "../stream-record.ts";
import { streamAll } from "../subject.ts";
import { wallTime } from "./total-speed.ts";

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
  subjects: everyone,
  measures: [
    { key: "wallMs", title: "until all are answered", unit: "ms", better: "lower", isDrawn: true },
    { key: "ttftP50Ms", title: "time to first token, p50", unit: "ms", better: "lower", isDrawn: true },
    { key: "computedTokens", title: "prompt tokens computed", unit: "tokens", better: "lower" },
  ],
  cases: [{ name: `${clients} clients`, run }],
};
