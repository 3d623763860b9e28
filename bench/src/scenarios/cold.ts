// `cold`: from the start of the process to the first token. The model file is in the page cache: everyone has read it.
import { everyone, type CaseContext, type Measured, type Scenario } from "../scenario.ts";
import { timeToFirstToken } from "../stream-record.ts";

const promptTokens = 30;
const answerTokens = 8;

async function run({ subject, prompts }: CaseContext): Promise<Measured> {
  const messages = [{ role: "user" as const, content: prompts.text(promptTokens) }];
  const record = await subject.stream({ messages, maxTokens: answerTokens });
  const values = {
    firstTokenMs: record.sentAtMs + timeToFirstToken(record) - subject.startedAtMs,
    readyMs: record.sentAtMs - subject.startedAtMs,
  };
  return { values, requests: [record] };
}

export const cold: Scenario = {
  name: "cold",
  meaning: `From the start of the process to the first token of its first answer, to a prompt of ${promptTokens} tokens.`,
  subjects: everyone,
  measures: [
    { key: "firstTokenMs", title: "start to first token", unit: "ms", better: "lower", isDrawn: true },
    { key: "readyMs", title: "start to ready", unit: "ms", better: "lower" },
  ],
  cases: [{ name: "first request", isCold: true, run }],
};
