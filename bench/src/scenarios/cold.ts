// `cold`: from the start of the process to the first token. The model file is already in the page cache.
import { everyone, type CaseContext, type Measured, type Scenario } from "../scenario.ts";
import { timeToFirstToken, type StreamRecord } from "../stream-record.ts";

const promptTokens = 30;
const replyTokens = 8;

async function run({ subject, prompts }: CaseContext): Promise<Measured> {
  const ask = async (): Promise<StreamRecord> => {
    const messages = [{ role: "user" as const, content: prompts.text(promptTokens) }];
    return await subject.stream({ messages, maxTokens: replyTokens });
  };
  const first = await ask();
  const second = await ask();
  const values = {
    firstTokenMs: first.sentAtMs + timeToFirstToken(first) - subject.startedAtMs,
    readyMs: first.sentAtMs - subject.startedAtMs,
    firstRequestMs: timeToFirstToken(first),
    secondRequestMs: timeToFirstToken(second),
  };
  return { values, requests: [first, second] };
}

export const cold: Scenario = {
  name: "cold",
  meaning: `From the start of the process to the first token of its first reply, to a prompt of ${promptTokens} tokens.`,
  subjects: everyone,
  measures: [
    { key: "firstTokenMs", title: "start to first token", unit: "ms", better: "lower", isDrawn: true },
    { key: "readyMs", title: "start to ready", unit: "ms", better: "lower" },
    // A warm-up of the model could gain at most the difference of these two.
    { key: "firstRequestMs", title: "first request to its first token", unit: "ms", better: "lower" },
    { key: "secondRequestMs", title: "second request to its first token", unit: "ms", better: "lower" },
  ],
  cases: [{ name: "first request", isCold: true, run }],
};
