// Records one round: waits until the machine is idle, measures, and keeps a failure as a failed round.
import { BenchError } from "./bench-error.ts";
import { formatNumber } from "./comparison.ts";
import { assertIdle } from "./machine.ts";
import type { Measured, Round } from "./scenario.ts";
import { requestFigures } from "./stream-record.ts";

type Head = Pick<Round, "scenario" | "case" | "round" | "seed" | "subject">;

export interface RecordOptions {
  force: boolean;
  rounds: number;
  signal: AbortSignal;
  say: (line: string) => void;
}

/**
 * `measure` is the key of the figure to print. Throws BenchError if the machine is busy, the signal's reason, and bugs of
 * this code; errors of the subject are recorded in the round.
 */
export async function recordRound(
  head: Head,
  measure: string,
  work: () => Promise<Measured>,
  { force, rounds, signal, say }: RecordOptions,
): Promise<Round> {
  const busyShare = await assertIdle({ force, signal });
  const title = `${head.scenario}, ${head.case}, round ${head.round} of ${rounds}: ${head.subject}`;
  try {
    const { values, requests } = await work();
    say(`${title}: ${formatNumber(values[measure] ?? Number.NaN)}`);
    return { ...head, busyShare, values, requests: requests.map(requestFigures) };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof BenchError)) throw error;
    say(`${title}: failed. ${error.message}`);
    return { ...head, busyShare, values: {}, requests: [], error: error.message };
  }
}
