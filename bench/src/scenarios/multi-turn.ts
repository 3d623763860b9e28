// `multi-turn`: a growing chat. Each turn sends the whole chat again; only new tokens should be computed.
import {
  charted,
  lowerIsBetter,
  allSubjects,
  type CaseContext,
  type Measured,
  type Scenario,
} from "../scenario.ts";
import { median } from "../statistics.ts";
import { timeToFirstToken, type ChatMessage, type StreamRecord } from "../stream-record.ts";

const turns = 6;
const systemTokens = 100;
const questionTokens = 60;
const replyTokens = 32;

async function run({ subject, prompts }: CaseContext): Promise<Measured> {
  const messages: ChatMessage[] = [{ role: "system", content: prompts.text(systemTokens) }];
  const requests: StreamRecord[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    messages.push({ role: "user", content: prompts.text(questionTokens) });
    const record = await subject.stream({ messages: [...messages], maxTokens: replyTokens });
    messages.push({ role: "assistant", content: record.text });
    requests.push(record);
  }
  const later = requests.slice(1); // the first turn cannot be cached
  const values = {
    computedTokens: median(later.map(({ computedTokens }) => computedTokens)),
    newTokens: median(later.map((record, index) => newTokens(record, requests[index]))),
    ttftMs: median(later.map(timeToFirstToken)),
  };
  return { values, requests };
}

/** Tokens of this turn's prompt that were neither in the previous prompt nor in its reply. */
function newTokens(record: StreamRecord, before: StreamRecord | undefined): number {
  return record.promptTokens - (before?.promptTokens ?? 0) - (before?.completionTokens ?? 0);
}

export const multiTurn: Scenario = {
  name: "multi-turn",
  meaning: `A chat of ${turns} turns: questions of ${questionTokens} tokens, replies of ${replyTokens}; medians over the turns after the first.`,
  subjects: allSubjects,
  measures: [
    charted(lowerIsBetter("computedTokens", "prompt tokens computed in a turn", "tokens")),
    lowerIsBetter("newTokens", "of them new in a turn", "tokens"),
    charted(lowerIsBetter("ttftMs", "time to first token", "ms")),
  ],
  cases: [{ name: "one chat", run }],
};
