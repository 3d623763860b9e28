// Answers that are running while something else arrives. Used by `mixed` and `vision`.
import type { CaseContext } from "../scenario.ts";
import type { StreamRecord } from "../stream-record.ts";
import { succeeded, type Subject } from "../subject.ts";

export interface RunningStreamsOptions {
  /** What each of them answers. */
  texts: readonly string[];
  /** More than can be generated before all clients leave. */
  maxTokens: number;
  /** Pieces that every stream has received when it is warm. */
  warmPieces: number;
}

/** Starts the streams, does the work once all are warm, and has the streams' clients leave. */
export async function besideStreams<Result>(
  { subject, signal }: Pick<CaseContext, "subject" | "signal">,
  options: RunningStreamsOptions,
  work: () => Promise<Result>,
): Promise<{ result: Result; streams: StreamRecord[] }> {
  const leaving = new AbortController();
  const { areWarm, settled } = startStreams(subject, options, leaving.signal);
  try {
    await Promise.race([areWarm, settled]);
    const result = await work();
    leaving.abort();
    return { result, streams: succeeded(await settled, signal) };
  } finally {
    leaving.abort();
    await settled;
  }
}

interface RunningStreams {
  /** When every stream has received so many pieces. */
  areWarm: Promise<void>;
  settled: Promise<PromiseSettledResult<StreamRecord>[]>;
}

function startStreams(
  subject: Subject,
  { texts, maxTokens, warmPieces }: RunningStreamsOptions,
  leave: AbortSignal,
): RunningStreams {
  let report = (): void => {};
  const areWarm = new Promise<void>((resolve) => {
    report = resolve;
  });
  let warm = 0;
  const onPiece = (count: number): void => {
    if (count === warmPieces) warm += 1;
    if (warm === texts.length) report();
  };
  const records = texts.map((content) =>
    subject.stream({ messages: [{ role: "user", content }], maxTokens }, { leave, onPiece }),
  );
  return { areWarm, settled: Promise.allSettled(records) };
}
