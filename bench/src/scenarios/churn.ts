// `churn`: half of the clients disconnect. The server should stop computing for them.
import { setTimeout as sleep } from "node:timers/promises";
import { BenchError } from "../bench-error.ts";
import {
  charted,
  higherIsBetter,
  lowerIsBetter,
  serverSubjects,
  type CaseContext,
  type Measured,
  type Scenario,
} from "../scenario.ts";
import { succeeded, type Subject } from "../subject.ts";
import { wallTime, userRequest } from "../stream-record.ts";

const clients = 32;
const promptTokens = 100;
const replyTokens = 48;
/** Clients disconnect at random moments up to this one, whatever the state of their request. */
const leaveWithinMs = 3_000;
/** The process counts as idle if it used less than this share of one core … */
const idleShareMax = 0.05;
/** … for this long. */
const idleWindowMs = 500;
const idleLimitMs = 10_000;

async function run({ subject, prompts, signal }: CaseContext): Promise<Measured> {
  const departures: AbortController[] = [];
  const replies = Array.from({ length: clients }, async (_, index) => {
    const request = userRequest(prompts.text(promptTokens), replyTokens);
    const leavesAtMs = prompts.fraction() * leaveWithinMs;
    const departure = new AbortController();
    departures.push(departure);
    const timer = index % 2 === 0 ? undefined : setTimeout(() => departure.abort(), leavesAtMs);
    try {
      return await subject.stream(request, { leave: departure.signal });
    } finally {
      clearTimeout(timer);
    }
  });
  const requests = succeeded(await Promise.allSettled(replies), signal);
  const idle = await timeUntilIdle(subject, signal);
  const stayed = requests.filter(({ hasLeft }) => !hasLeft);
  const values = {
    wallMs: wallTime(stayed),
    left: requests.length - stayed.length,
    ...(idle === undefined ? {} : { idleAfterMs: idle }),
  };
  return { values, requests };
}

/**
 * Milliseconds until the process stops computing, in steps of the window. Undefined if the system does not report it.
 * Throws BenchError if it does not stop: it computes for disconnected clients.
 */
async function timeUntilIdle(subject: Subject, signal: AbortSignal): Promise<number | undefined> {
  const start = performance.now();
  let before = await subject.usage();
  while (performance.now() - start < idleLimitMs) {
    await sleep(idleWindowMs, undefined, { signal });
    const after = await subject.usage();
    if (before === undefined || after === undefined) return undefined;
    const share = (after.cpuSeconds - before.cpuSeconds) / (idleWindowMs / 1000);
    if (share < idleShareMax) return performance.now() - start - idleWindowMs;
    before = after;
  }
  throw new BenchError(`The server still computed ${idleLimitMs / 1000} seconds after its last client.`);
}

export const churn: Scenario = {
  name: "churn",
  meaning: `${clients} clients at once, half of which leave within ${leaveWithinMs / 1000} seconds.`,
  subjects: serverSubjects,
  measures: [
    charted(lowerIsBetter("wallMs", "until the others have their replies", "ms")),
    lowerIsBetter("idleAfterMs", "from then until the server is idle", "ms"),
    higherIsBetter("left", "clients that left before their end", "clients"),
  ],
  cases: [{ name: `${clients} clients`, run }],
};
