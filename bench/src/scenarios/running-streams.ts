// Answers that are running while something else arrives. Used by `mixed` and `vision`.
import type { StreamRecord } from "../stream-record.ts";
import type { Subject } from "../subject.ts";

export interface RunningStreams {
  /** When every stream has received so many pieces. */
  areWarm: Promise<void>;
  settled: Promise<PromiseSettledResult<StreamRecord>[]>;
}

export interface RunningStreamsOptions {
  /** More than can be generated before all clients leave. */
  maxTokens: number;
  /** Pieces that every stream has received when it is warm. */
  warmPieces: number;
  leave: AbortSignal;
}

/** Starts an answer for each of the texts. */
export function startStreams(
  subject: Subject,
  texts: readonly string[],
  { maxTokens, warmPieces, leave }: RunningStreamsOptions,
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
