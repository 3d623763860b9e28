// Replies that are running while something else arrives.
import type { CaseContext } from "../scenario.ts";
import type { StreamRecord } from "../stream-record.ts";
import { succeeded, type Subject } from "../subject.ts";

export interface RunningStreamsOptions {
  /** Their requests. */
  texts: readonly string[];
  /** More than can be generated before all clients disconnect. */
  maxTokens: number;
  /** Pieces after which a stream counts as warm. */
  warmPieces: number;
}

/** Starts the streams, runs the work once all are warm, and disconnects the streams' clients. */
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
  /** Resolves when every stream has received this many pieces. */
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
