// `parallel`: many users at once, each with a prompt of its own.
import type { Prompts } from "../prompts.ts";
import {
  charted,
  higherIsBetter,
  lowerIsBetter,
  allSubjects,
  type Measured,
  type Scenario,
  type ScenarioCase,
} from "../scenario.ts";
import { percentile } from "../statistics.ts";
import { gaps, timeToFirstToken, type StreamRequest, totalSpeed, userRequest } from "../stream-record.ts";
import { streamAll, type Subject } from "../subject.ts";

const promptTokens = 100;
const replyTokens = 48;

/** `busy` runs it beside a busy process, too. */
export async function runParallel(subject: Subject, prompts: Prompts, clients: number): Promise<Measured> {
  const request = (): StreamRequest => userRequest(prompts.text(promptTokens), replyTokens);
  const requests = await streamAll(subject, Array.from({ length: clients }, request));
  const firsts = requests.map(timeToFirstToken);
  const values = {
    tokensPerSecond: totalSpeed(requests),
    ttftP50Ms: percentile(firsts, 50),
    ttftP99Ms: percentile(firsts, 99),
    gapP99Ms: percentile(requests.flatMap(gaps), 99),
  };
  return { values, requests };
}

function clientsCase(clients: number, slotsMin = 1): ScenarioCase {
  return {
    name: `${clients} clients`,
    slotsMin,
    run: ({ subject, prompts }) => runParallel(subject, prompts, clients),
  };
}

export const parallel: Scenario = {
  name: "parallel",
  meaning: `Many users at once, each with a prompt of ${promptTokens} tokens of its own and a reply of ${replyTokens}.`,
  subjects: allSubjects,
  measures: [
    charted(higherIsBetter("tokensPerSecond", "speed of all together", "tokens/s")),
    lowerIsBetter("ttftP50Ms", "time to first token, p50", "ms"),
    lowerIsBetter("ttftP99Ms", "time to first token, p99", "ms"),
    lowerIsBetter("gapP99Ms", "gap between tokens, p99", "ms"),
  ],
  cases: [clientsCase(8), clientsCase(32), clientsCase(64, 64)],
};
