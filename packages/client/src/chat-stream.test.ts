import type { ServerResponse } from "node:http";

import { expect, test } from "vitest";

import {
  beginEvents,
  chunkEvent,
  closedByClient,
  events,
  pause,
  startServer,
} from "../test/misbehaving-server.ts";
import type { Script } from "../test/misbehaving-server.ts";
import { serverAndClient } from "../test/server-and-client.ts";
import { Ingle } from "./client.ts";
import { ConnectionError, IngleError, StreamError, TimeoutError } from "./errors.ts";

const body = {
  model: "tiny",
  messages: [{ role: "user" as const, content: "Hello" }],
  stream: true as const,
};
const done = "data: [DONE]\n\n";

const { server, client } = await serverAndClient();

/** Streams and collects the texts; `failure` is the error that the loop threw. */
async function collect(script: Script, options = {}): Promise<{ texts: string[]; failure: unknown }> {
  server.respond(script);
  const texts: string[] = [];
  try {
    for await (const chunk of await client.chat.completions.create(body, options)) {
      texts.push(chunk.choices[0]?.delta.content ?? "");
    }
    return { texts, failure: undefined };
  } catch (failure) {
    return { texts, failure };
  }
}

/** A reply that never ends; resolves with the server's side of it once its first chunk was sent. */
function endless(): { script: Script; response: Promise<ServerResponse> } {
  let give: (response: ServerResponse) => void = () => {};
  const response = new Promise<ServerResponse>((resolve) => (give = resolve));
  const script: Script = (own) => {
    beginEvents(own);
    own.write(chunkEvent("first"));
    give(own);
  };
  return { script, response };
}

test("yields the same chunks wherever the connection cuts the bytes", async () => {
  const bytes = new TextEncoder().encode(
    `:\r\n\r\n${chunkEvent("é漢😀")}${chunkEvent(null).replaceAll("\n", "\r\n")}${done}`,
  );
  for (let cut = 1; cut < bytes.length; cut += 1) {
    const { texts, failure } = await collect(events(bytes.slice(0, cut), bytes.slice(cut)));
    expect({ cut, texts, failure }).toEqual({ cut, texts: ["é漢😀", ""], failure: undefined });
  }
});

test("returns the complete text and the request's id", async () => {
  server.respond(events(chunkEvent(null), chunkEvent("Hello"), chunkEvent(", world"), done));
  const stream = await client.chat.completions.create(body);
  expect(stream.requestId).toBe("req-1");
  expect(await stream.finalText()).toBe("Hello, world");
});

test("an error event ends the loop with the server's code", async () => {
  const error = `data: ${JSON.stringify({ error: { message: "the engine stopped", type: "server_error", param: null, code: "engine_failed" } })}\n\n`;
  const { texts, failure } = await collect(events(chunkEvent("Hel"), error));
  expect(texts).toEqual(["Hel"]);
  expect(StreamError.is(failure)).toBe(true);
  expect(failure).toMatchObject({
    code: "engine_failed",
    type: "server_error",
    message: "the engine stopped",
  });
});

test("an end without [DONE] is an error: a cut reply never looks complete", async () => {
  const { texts, failure } = await collect(events(chunkEvent("Hel")));
  expect(texts).toEqual(["Hel"]);
  expect(failure).toMatchObject({ name: "StreamError", code: "stream_incomplete" });
});

test("data that are not a chunk are an error", async () => {
  for (const data of ["{oops", "7", "{}", '{"choices":[7]}', '{"choices":[{"index":0}]}']) {
    const { failure } = await collect(events(`data: ${data}\n\n`, done));
    expect(failure).toMatchObject({ name: "StreamError", code: "stream_invalid" });
  }
});

test("a connection that breaks in the middle is an error and is not retried", async () => {
  const { texts, failure } = await collect(async (response) => {
    beginEvents(response);
    response.write(chunkEvent("Hel"));
    await pause(20);
    response.socket?.destroy();
  });
  expect(texts).toEqual(["Hel"]);
  expect(ConnectionError.is(failure)).toBe(true);
  expect(server.seen).toHaveLength(1);
});

test("leaving the loop closes the connection", async () => {
  const { script, response } = endless();
  server.respond(script);
  for await (const chunk of await client.chat.completions.create(body)) {
    expect(chunk.choices[0]?.delta.content).toBe("first");
    break;
  }
  await closedByClient(await response);
});

test("abort() ends a loop that is waiting, without an error, and closes the connection", async () => {
  const { script, response } = endless();
  server.respond(script);
  const stream = await client.chat.completions.create(body);
  const closed = closedByClient(await response);
  setTimeout(() => stream.abort(), 20);
  let chunks = 0;
  for await (const _chunk of stream) chunks += 1;
  expect(chunks).toBe(1);
  await closed;
  stream.abort();
});

test("the end of an await using block closes an unread stream", async () => {
  const { script, response } = endless();
  server.respond(script);
  let closed: Promise<void> | undefined;
  {
    await using _stream = await client.chat.completions.create(body);
    closed = closedByClient(await response);
  }
  await expect(closed).resolves.toBeUndefined();
});

test("an abort while streaming rejects with the signal's reason and closes the connection", async () => {
  const { script, response } = endless();
  const caller = new AbortController();
  const reason = new Error("the user pressed stop");
  setTimeout(() => caller.abort(reason), 50);
  const { texts, failure } = await collect(script, { signal: caller.signal });
  expect(texts).toEqual(["first"]);
  expect(failure).toBe(reason);
  await closedByClient(await response);
});

test("chunks that arrived before an abort are not yielded after it", async () => {
  const caller = new AbortController();
  server.respond((response) => {
    beginEvents(response);
    response.write(chunkEvent("one") + chunkEvent("two"));
  });
  const texts: unknown[] = [];
  const read = async (): Promise<void> => {
    for await (const chunk of await client.chat.completions.create(body, { signal: caller.signal })) {
      texts.push(chunk.choices[0]?.delta.content);
      caller.abort("enough");
    }
  };
  await expect(read()).rejects.toBe("enough");
  expect(texts).toEqual(["one"]);
});

test("silence in the middle of a stream is a timeout, but keep-alive comments are not silence", async () => {
  const impatient = new Ingle({ baseUrl: server.url, timeoutMs: 500, maxRetries: 0 });
  server.respond(async (response) => {
    beginEvents(response);
    for (let count = 0; count < 14; count += 1) {
      await pause(50);
      response.write(":\n\n");
    }
    response.write(chunkEvent("late"));
  });
  const texts: unknown[] = [];
  const read = async (): Promise<void> => {
    for await (const chunk of await impatient.chat.completions.create(body))
      texts.push(chunk.choices[0]?.delta.content);
  };
  await expect(read()).rejects.toSatisfy(TimeoutError.is);
  expect(texts).toEqual(["late"]);
});

test("a slow reader does not cause a timeout", async () => {
  const impatient = new Ingle({ baseUrl: server.url, timeoutMs: 100, maxRetries: 0 });
  server.respond(events(chunkEvent("a"), chunkEvent("b"), done));
  let text = "";
  for await (const chunk of await impatient.chat.completions.create(body)) {
    text += chunk.choices[0]?.delta.content ?? "";
    await pause(200);
  }
  expect(text).toBe("ab");
});

test("a stream can be read once", async () => {
  server.respond(events(chunkEvent("a"), done));
  const stream = await client.chat.completions.create(body);
  await stream.finalText();
  expect(() => stream[Symbol.asyncIterator]()).toThrow(IngleError);
  expect(() => stream.toReadableStream()).toThrow(IngleError);
  await expect(stream.texts().next()).rejects.toSatisfy(IngleError.is);
});

test("texts() yields only the pieces of the first choice's text", async () => {
  const second = chunkEvent("other").replace('"index":0', '"index":1');
  server.respond(events(chunkEvent(null), chunkEvent("Hel"), second, chunkEvent(""), chunkEvent("lo"), done));
  const texts: string[] = [];
  for await (const text of (await client.chat.completions.create(body)).texts()) texts.push(text);
  expect(texts).toEqual(["Hel", "lo"]);
});

test("the complete text is available beside a loop and after it, any number of times", async () => {
  server.respond(events(chunkEvent("Hel"), chunkEvent("lo"), done));
  const stream = await client.chat.completions.create(body);
  const chunks = stream[Symbol.asyncIterator]();
  await chunks.next();
  const beside = stream.finalText();
  while ((await chunks.next()).done !== true);
  expect(await beside).toBe("Hello");
  expect(await stream.finalText()).toBe("Hello");
});

test("finalText() rejects if the stream is left, and with the error that ended it", async () => {
  const { script, response } = endless();
  server.respond(script);
  const left = await client.chat.completions.create(body);
  const waiting = left.finalText();
  await response;
  left.abort();
  await expect(waiting).rejects.toMatchObject({ name: "StreamError", code: "stream_aborted" });
  await expect(left.finalCompletion()).rejects.toMatchObject({ code: "stream_aborted" });

  server.respond(events(chunkEvent("Hel")));
  const cut = await client.chat.completions.create(body);
  await expect(cut.finalText()).rejects.toMatchObject({ code: "stream_incomplete" });
  await expect(cut.finalText()).rejects.toMatchObject({ code: "stream_incomplete" });
});

test("stream() requests usage, and returns the complete completion", async () => {
  const end = `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}\n\n`;
  const usage = { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 };
  const last = `data: ${JSON.stringify({ choices: [], usage })}\n\n`;
  server.respond(events(chunkEvent("Hi"), end, last, done));
  const { model, messages } = body;
  const stream = await client.chat.completions.stream({ model, messages });
  const { choices, ...head } = await stream.finalCompletion();
  expect(choices[0]).toMatchObject({ message: { content: "Hi" }, finish_reason: "stop" });
  expect(head).toMatchObject({ id: "chatcmpl-1", object: "chat.completion", usage });
  expect(JSON.parse(server.seen[0]?.body ?? "")).toEqual({
    model,
    messages,
    stream: true,
    stream_options: { include_usage: true },
  });
});

test("a connection whose stream ended normally is reused for the next request", async () => {
  await using fresh = await startServer();
  const sockets = new Set<unknown>();
  const script = events(chunkEvent("a"), done);
  fresh.respond((response, request) => {
    sockets.add(response.socket);
    return script(response, request);
  });
  for (let count = 0; count < 3; count += 1) {
    await (await new Ingle({ baseUrl: fresh.url }).chat.completions.create(body)).finalText();
    await pause(20);
  }
  expect(fresh.seen).toHaveLength(3);
  expect(sockets.size).toBe(1);
});

test("a response that is not an event stream is an error, even with status 200", async () => {
  const { failure } = await collect((response) =>
    response.writeHead(200, { "content-type": "text/html" }).end("<html>"),
  );
  expect(failure).toMatchObject({ name: "ApiError", status: 200, code: null });
});
