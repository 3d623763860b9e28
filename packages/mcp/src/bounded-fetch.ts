// A fetch() that limits the size of responses, for connections to MCP servers.

/** Reading more of a body than `bytesMax` fails with an error that says so. */
export function boundedFetch(bytesMax: number): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(limited(bytesMax)), { status, statusText, headers });
  };
}

function limited(bytesMax: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      bytes += chunk.length;
      if (bytes > bytesMax) controller.error(new Error(`the response has more than ${bytesMax} bytes`));
      else controller.enqueue(chunk);
    },
  });
}
