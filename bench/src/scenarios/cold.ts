// `cold`: from the start of the process to the first token. The model file is already in the page cache.
import {
  charted,
  lowerIsBetter,
  allSubjects,
  type CaseContext,
  type Measured,
  type Scenario,
} from "../scenario.ts";
import { timeToFirstToken, userRequest } from "../stream-record.ts";

const promptTokens = 30;
const replyTokens = 8;

async function run({ subject, prompts }: CaseContext): Promise<Measured> {
  const first = await subject.stream(userRequest(prompts.text(promptTokens), replyTokens));
  const second = await subject.stream(userRequest(prompts.text(promptTokens), replyTokens));
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
  subjects: allSubjects,
  measures: [
    charted(lowerIsBetter("firstTokenMs", "start to first token", "ms")),
    lowerIsBetter("readyMs", "start to ready", "ms"),
    // A warm-up of the model could gain at most the difference of these two.
    lowerIsBetter("firstRequestMs", "first request to its first token", "ms"),
    lowerIsBetter("secondRequestMs", "second request to its first token", "ms"),
  ],
  cases: [{ name: "first request", isCold: true, run }],
};
