// Several streams as one, each piece with the number of the stream it is from. Used by the streams that have
// several choices.

export interface FromStream<T> {
  index: number;
  /** Undefined once, when this stream has ended. */
  value: T | undefined;
}

/** In the order of arrival. The first error ends all; so does leaving. */
export async function* mergeStreams<T>(
  streams: readonly AsyncIterable<T>[],
): AsyncGenerator<FromStream<T>, void, undefined> {
  const iterators = streams.map((stream) => stream[Symbol.asyncIterator]());
  const pending = new Map(iterators.map((iterator, index) => [index, asked(iterator, index)]));
  try {
    while (pending.size > 0) {
      const { index, result } = await Promise.race(pending.values());
      const iterator = iterators[index];
      if (result.done === true || iterator === undefined) pending.delete(index);
      else pending.set(index, asked(iterator, index));
      yield { index, value: result.done === true ? undefined : result.value };
    }
  } finally {
    // What others still have to say interests nobody; their errors neither.
    for (const index of pending.keys()) void iterators[index]?.return?.().catch(() => {});
  }
}

/** The next piece, asked for before anybody waits for it: an error is kept until somebody does. */
function asked<T>(
  iterator: AsyncIterator<T>,
  index: number,
): Promise<{ index: number; result: IteratorResult<T> }> {
  const piece = next(iterator, index);
  piece.catch(() => {});
  return piece;
}

async function next<T>(
  iterator: AsyncIterator<T>,
  index: number,
): Promise<{ index: number; result: IteratorResult<T> }> {
  return { index, result: await iterator.next() };
}
