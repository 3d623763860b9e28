// `single`: one user, one reply after another.
import type { Prompts } from "../prompts.ts";
import { everyone, type Measured, type Scenario } from "../scenario.ts";
import { median } from "../statistics.ts";
import { decodeSpeed, timeToFirstToken, type StreamRecord } from "../stream-record.ts";
import type { Subject } from "../subject.ts";

const promptTokens = 200;
const replyTokens = 64;
/** Replies per round; the result is their median. */
const answers = 3;

/** `busy` runs it beside a busy process, too. */
export async function runSingle(subject: Subject, prompts: Prompts): Promise<Measured> {
  const requests: StreamRecord[] = [];
  for (let i = 0; i < answers; i += 1) {
    const messages = [{ role: "user" as const, content: prompts.text(promptTokens) }];
    requests.push(await subject.stream({ messages, maxTokens: replyTokens }));
  }
  const values = {
    tokensPerSecond: median(requests.map(decodeSpeed)),
    ttftMs: median(requests.map(timeToFirstToken)),
  };
  return { values, requests };
}

export const single: Scenario = {
  name: "single",
  meaning: `One user: a prompt of ${promptTokens} tokens, a reply of ${replyTokens}.`,
  subjects: everyone,
  measures: [
    {
      key: "tokensPerSecond",
      title: "speed of the reply",
      unit: "tokens/s",
      better: "higher",
      isDrawn: true,
    },
    { key: "ttftMs", title: "time to first token", unit: "ms", better: "lower", isDrawn: true },
  ],
  cases: [{ name: "one client", run: ({ subject, prompts }) => runSingle(subject, prompts) }],
};
