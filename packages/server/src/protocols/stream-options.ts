// How a streamed answer is wished for, where chunks are its form. Used by the routes of chats and of texts, and by their
// to-chunks.ts.

export interface StreamOptions {
  /** Ends the stream with a chunk that has no choices but the usage. */
  includeUsage: boolean;
  /** Adds the speed so far to every chunk with text of the reply. */
  timingsPerToken: boolean;
  /** Milliseconds of a clock that only goes forward. */
  now?: () => number;
}

export function toStreamOptions(body: {
  stream_options?: { include_usage?: boolean | undefined } | undefined;
  timings_per_token?: boolean | undefined;
}): StreamOptions {
  return {
    includeUsage: body.stream_options?.include_usage ?? false,
    timingsPerToken: body.timings_per_token ?? false,
  };
}
