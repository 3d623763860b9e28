// A fetch() that limits the size of messages, for connections to MCP servers.
import { MessageMeter } from "./message-limit.ts";

const lineEnd = 0x0a;
const carriageReturn = 0x0d;

/** Reading more of a body than one message may hold fails with MessageTooLarge; of an event stream, more than one event may hold. */
export const boundedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  if (response.body === null) return response;
  const { status, statusText, headers } = response;
  const isStream = headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  const body = response.body.pipeThrough(isStream ? limitedEvents() : limited());
  return new Response(body, { status, statusText, headers });
};

function limited(): TransformStream<Uint8Array, Uint8Array> {
  const meter = new MessageMeter();
  return new TransformStream({
    transform: (chunk, controller) => {
      meter.add(chunk);
      controller.enqueue(chunk);
    },
  });
}

/** An empty line ends an event. */
function limitedEvents(): TransformStream<Uint8Array, Uint8Array> {
  let meter = new MessageMeter();
  let isEmptyLine = true;
  const add = (bytes: Uint8Array): void => {
    meter.add(bytes);
    isEmptyLine &&= bytes.every((byte) => byte === carriageReturn);
  };
  return new TransformStream({
    transform: (chunk, controller) => {
      let start = 0;
      for (let end = chunk.indexOf(lineEnd); end !== -1; end = chunk.indexOf(lineEnd, start)) {
        add(chunk.subarray(start, end));
        if (isEmptyLine) meter = new MessageMeter();
        isEmptyLine = true;
        start = end + 1;
      }
      add(chunk.subarray(start));
      controller.enqueue(chunk);
    },
  });
}
