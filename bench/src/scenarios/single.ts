// `single`: one user, one answer after the other.
import type { Prompts } from "../prompts.ts";
import { everyone, type Measured, type Scenario } from "../scenario.ts";
import { median } from "../statistics.ts";
import { decodeSpeed, timeToFirstToken, type StreamRecord } from "../stream-record.ts";
import type { Subject } from "../subject.ts";

const promptTokens = 200;
const answerTokens = 64;
/** Answers in a round; their median counts. */
const answers = 3;

/** Also what `busy` runs beside a busy process. */
export async function runSingle(subject: Subject, prompts: Prompts): Promise<Measured> {
  const requests: StreamRecord[] = [];
  for (let i = 0; i < answers; i += 1) {
    const messages = [{ role: "user" as const, content: prompts.text(promptTokens) }];
    requests.push(await subject.stream({ messages, maxTokens: answerTokens }));
  }
  const values = {
    tokensPerSecond: median(requests.map(decodeSpeed)),
    ttftMs: median(requests.map(timeToFirstToken)),
  };
  return { values, requests };
}

export const single: Scenario = {
  name: "single",
  meaning: `One user: a prompt of ${promptTokens} tokens, an answer of ${answerTokens}.`,
  subjects: everyone,
  measures: [
    {
      key: "tokensPerSecond",
      title: "speed of the answer",
      unit: "tokens/s",
      better: "higher",
      isDrawn: true,
    },
    { key: "ttftMs", title: "time to first token", unit: "ms", better: "lower", isDrawn: true },
  ],
  cases: [{ name: "one client", run: ({ subject, prompts }) => runSingle(subject, prompts) }],
};
