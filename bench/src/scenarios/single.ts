// `single`: one user, one reply after another.
import type { Prompts } from "../prompts.ts";
import {
  charted,
  higherIsBetter,
  lowerIsBetter,
  allSubjects,
  type Measured,
  type Scenario,
} from "../scenario.ts";
import { median } from "../statistics.ts";
import { decodeSpeed, timeToFirstToken, type StreamRecord, userRequest } from "../stream-record.ts";
import type { Subject } from "../subject.ts";

const promptTokens = 200;
const replyTokens = 64;
/** Replies per round; the result is their median. */
const replies = 3;

/** `busy` runs it beside a busy process, too. */
export async function runSingle(subject: Subject, prompts: Prompts): Promise<Measured> {
  const requests: StreamRecord[] = [];
  for (let i = 0; i < replies; i += 1)
    requests.push(await subject.stream(userRequest(prompts.text(promptTokens), replyTokens)));
  const values = {
    tokensPerSecond: median(requests.map(decodeSpeed)),
    ttftMs: median(requests.map(timeToFirstToken)),
  };
  return { values, requests };
}

export const single: Scenario = {
  name: "single",
  meaning: `One user: a prompt of ${promptTokens} tokens, a reply of ${replyTokens}.`,
  subjects: allSubjects,
  measures: [
    charted(higherIsBetter("tokensPerSecond", "speed of the reply", "tokens/s")),
    charted(lowerIsBetter("ttftMs", "time to first token", "ms")),
  ],
  cases: [{ name: "one client", run: ({ subject, prompts }) => runSingle(subject, prompts) }],
};
