// Replies that are running while something else arrives.
import type { CaseContext } from "../scenario.ts";
import { type StreamRecord, userRequest } from "../stream-record.ts";
import { succeeded } from "../subject.ts";

interface RunningStreamsOptions {
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
  { texts, maxTokens, warmPieces }: RunningStreamsOptions,
  work: () => Promise<Result>,
): Promise<{ result: Result; streams: StreamRecord[] }> {
  const leaving = new AbortController();
  let report = (): void => {};
  const areWarm = new Promise<void>((resolve) => (report = resolve));
  let cold = texts.length;
  const onPiece = (count: number): void => {
    if (count === warmPieces) cold -= 1;
    if (cold === 0) report();
  };
  const settled = Promise.allSettled(
    texts.map((text) => subject.stream(userRequest(text, maxTokens), { leave: leaving.signal, onPiece })),
  );
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
