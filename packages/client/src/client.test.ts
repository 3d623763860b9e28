import { expect, expectTypeOf, test } from "vitest";
import type { ChatCompletion } from "@ingle/protocol";

import {
  beginEvents,
  chunkEvent,
  closedByClient,
  json,
  pause,
  startServer,
} from "../test/misbehaving-server.ts";
import type { Script } from "../test/misbehaving-server.ts";
import { serverAndClient } from "../test/server-and-client.ts";
import type { ChatStream } from "./chat-stream.ts";
import { Ingle } from "./client.ts";
import { ApiError, ConnectionError, IngleError, TimeoutError } from "./errors.ts";
import { systemClock } from "./retry.ts";

const body = { model: "tiny", messages: [{ role: "user" as const, content: "Hello" }] };
const reply = {
  id: "chatcmpl-1",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
};
const failure = (code: string, type: string) => ({
  error: { message: `it is ${code}`, type, param: null, code },
});

let delays: number[] = [];
const { server } = await serverAndClient();
const client = makeClient({});

/** A client whose waits are recorded instead of waited for, and whose chance is always one half. */
function makeClient(options: object): Ingle {
  const delay = async (ms: number): Promise<void> => {
    delays.push(ms);
  };
  const clock = { now: () => Date.parse("2030-01-01T00:00:00Z"), random: () => 0.5, delay };
  return new Ingle({ baseUrl: server.url, timeoutMs: 5_000, clock, ...options });
}

function respond(...scripts: Script[]): void {
  delays = [];
  server.respond(...scripts);
}

test("sends the right address, headers and body", async () => {
  for (const suffix of ["", "/", "/v1", "/v1/", "/v1//"]) {
    respond(json(reply));
    const asking = makeClient({ baseUrl: `${server.url}${suffix}`, apiKey: "secret" });
    expect(await asking.chat.completions.create(body)).toEqual(reply);
    expect(server.seen[0]).toMatchObject({ method: "POST", url: "/v1/chat/completions" });
    expect(server.seen[0]?.headers).toMatchObject({
      authorization: "Bearer secret",
      "content-type": "application/json",
    });
    expect(JSON.parse(server.seen[0]?.body ?? "")).toEqual(body);
  }
});

test("keeps a path before /v1 and sends no authorization without a key", async () => {
  respond(json({ object: "list", data: [] }));
  await makeClient({ baseUrl: `${server.url}/proxy/v1` }).models.list();
  expect(server.seen[0]?.url).toBe("/proxy/v1/models");
  expect(server.seen[0]?.headers.authorization).toBeUndefined();
});

test("sends headers of the caller's, and its own in place of theirs", async () => {
  respond(json(reply));
  const headers = { "x-session-id": "chat-1", Authorization: "Bearer other", Accept: "text/html" };
  await makeClient({ apiKey: "secret", headers }).chat.completions.create(body);
  expect(server.seen[0]?.headers).toMatchObject({
    "x-session-id": "chat-1",
    authorization: "Bearer secret",
    accept: "application/json, text/event-stream",
  });
});

test("rejects an invalid address, key or header", () => {
  expect(() => new Ingle({ baseUrl: "localhost:1337" })).toThrow(IngleError);
  expect(() => new Ingle({ baseUrl: "" })).toThrow(IngleError);
  expect(() => new Ingle({ apiKey: "two\nlines" })).toThrow(IngleError);
  expect(() => new Ingle({ headers: { "no name": "1" } })).toThrow(IngleError);
});

test("lists models and retrieves one whose id holds a slash", async () => {
  const entry = { id: "vendor/tiny", object: "model" };
  respond(json({ object: "list", data: [entry] }), json(entry));
  expect((await client.models.list()).data).toEqual([entry]);
  expect(await client.models.retrieve("vendor/tiny")).toEqual(entry);
  expect(server.seen[1]?.url).toBe("/v1/models/vendor%2Ftiny");
});

test("the type of the result follows the body's stream field", () => {
  const { create } = client.chat.completions;
  expectTypeOf(() => create({ ...body, stream: true })).returns.resolves.toEqualTypeOf<ChatStream>();
  expectTypeOf(() => create({ ...body, stream: false })).returns.resolves.toEqualTypeOf<ChatCompletion>();
  expectTypeOf(() => create(body)).returns.resolves.toEqualTypeOf<ChatCompletion>();
  const either: boolean = Math.random() < 2;
  expectTypeOf(() => create({ ...body, stream: either })).returns.resolves.toEqualTypeOf<
    ChatCompletion | ChatStream
  >();
});

test("an error response becomes an ApiError with all details of the server", async () => {
  const error = {
    message: "too long",
    type: "invalid_request_error",
    param: "messages",
    code: "context_length_exceeded",
    n_prompt_tokens: 3000,
    n_ctx: 2048,
  };
  respond(json({ error }, 400, { "x-request-id": "req-7" }));
  const thrown: unknown = await client.chat.completions.create(body).catch((caught: unknown) => caught);
  expect(ApiError.is(thrown)).toBe(true);
  expect(IngleError.is(thrown)).toBe(true);
  expect(thrown).toMatchObject({
    message: "too long",
    status: 400,
    code: "context_length_exceeded",
    type: "invalid_request_error",
    param: "messages",
    requestId: "req-7",
    promptTokens: 3000,
    contextLength: 2048,
  });
  expect(server.seen).toHaveLength(1);
});

test("an error page of something that is not our server still says what it is", async () => {
  respond((response) => response.writeHead(404, { "content-type": "text/html" }).end("<h1>nginx</h1>"));
  await expect(client.models.list()).rejects.toMatchObject({
    status: 404,
    code: null,
    message: expect.stringContaining("nginx"),
  });
});

test("a success with an unexpected body is an error", async () => {
  for (const wrong of ["<html>", "[]", '{"choices":5}', ""]) {
    respond((response) => response.writeHead(200).end(wrong));
    await expect(client.chat.completions.create(body)).rejects.toMatchObject({
      name: "ApiError",
      status: 200,
    });
  }
});

test("waits as long as Retry-After says, in seconds or until a date, and succeeds", async () => {
  const full = failure("overloaded", "rate_limit_error");
  respond(
    json(full, 429, { "retry-after": "2" }),
    json(full, 429, { "retry-after": "Tue, 01 Jan 2030 00:00:05 GMT" }),
    json(reply),
  );
  expect(await client.chat.completions.create(body)).toEqual(reply);
  expect(delays).toEqual([2_000, 5_000]);
});

test.each([408, 409, 429, 500, 503, 504])(
  "tries again after %i with doubling waits, then gives the last error",
  async (status) => {
    respond(json(failure("internal", "server_error"), status));
    await expect(makeClient({ maxRetries: 6 }).chat.completions.create(body)).rejects.toMatchObject({
      status,
    });
    expect(server.seen).toHaveLength(7);
    expect(delays).toEqual([375, 750, 1_500, 3_000, 6_000, 6_000]);
  },
);

test.each([400, 401, 403, 404, 405, 413, 415, 501])("does not try again after %i", async (status) => {
  respond(json(failure("invalid_request", "invalid_request_error"), status));
  await expect(client.chat.completions.create(body)).rejects.toMatchObject({ status });
  expect(server.seen).toHaveLength(1);
});

test("does not retry if the server asks for a wait of more than a minute", async () => {
  respond(json(failure("model_loading", "unavailable_error"), 503, { "retry-after": "61" }));
  await expect(client.chat.completions.create(body)).rejects.toMatchObject({
    code: "model_loading",
    retryAfterMs: 61_000,
  });
  expect(server.seen).toHaveLength(1);
});

test("retries if the connection is reset before or during a response without streaming", async () => {
  const reset: Script = (response) => response.socket?.resetAndDestroy();
  const cut: Script = async (response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "500" });
    response.write('{"choices": [');
    await pause(10);
    response.socket?.destroy();
  };
  respond(reset, cut, json(reply));
  expect(await client.chat.completions.create(body)).toEqual(reply);
  respond(reset);
  await expect(client.chat.completions.create(body)).rejects.toSatisfy(ConnectionError.is);
  expect(server.seen).toHaveLength(3);
});

test("retries the start of a stream too", async () => {
  respond(json(failure("overloaded", "rate_limit_error"), 429, { "retry-after": "1" }), (response) => {
    beginEvents(response);
    response.end(`${chunkEvent("Hi")}data: [DONE]\n\n`);
  });
  expect(await (await client.chat.completions.create({ ...body, stream: true })).finalText()).toBe("Hi");
  expect(delays).toEqual([1_000]);
});

test("an unreachable server gives a ConnectionError with the cause", async () => {
  const gone = await startServer();
  await gone[Symbol.asyncDispose]();
  const thrown: unknown = await makeClient({ baseUrl: gone.url, maxRetries: 0 })
    .models.list()
    .catch((caught: unknown) => caught);
  expect(ConnectionError.is(thrown)).toBe(true);
  expect(thrown).toHaveProperty("cause");
});

test("silence longer than timeoutMs is a TimeoutError, is not retried and closes the connection", async () => {
  let closed: Promise<void> | undefined;
  respond((response) => {
    closed = closedByClient(response);
  });
  await expect(makeClient({ timeoutMs: 50 }).chat.completions.create(body)).rejects.toSatisfy(
    TimeoutError.is,
  );
  expect(server.seen).toHaveLength(1);
  await closed;
});

test("an infinite timeout does not fire at once", async () => {
  respond(async (response, request) => {
    await pause(30);
    await json(reply)(response, request);
  });
  expect(await makeClient({ timeoutMs: Number.POSITIVE_INFINITY }).chat.completions.create(body)).toEqual(
    reply,
  );
});

test("a call of a tool is sent once, and may be silent for longer than timeoutMs", async () => {
  const call = { server: "files", tool: "delete", arguments: {}, model: "a" };
  respond(json(failure("shutting_down", "unavailable_error"), 503));
  await expect(makeClient({ maxRetries: 2 }).mcp.call(call)).rejects.toMatchObject({ code: "shutting_down" });
  expect(server.seen).toHaveLength(1);
  respond(async (response, request) => {
    await pause(100);
    await json({ status: "done", content: [] })(response, request);
  });
  expect(await makeClient({ timeoutMs: 20 }).mcp.call(call)).toMatchObject({ status: "done" });
});

test("a signal that is aborted beforehand sends nothing", async () => {
  respond(json(reply));
  const reason = new Error("too late");
  await expect(client.chat.completions.create(body, { signal: AbortSignal.abort(reason) })).rejects.toBe(
    reason,
  );
  expect(server.seen).toHaveLength(0);
});

test("an abort while waiting for the response rejects with the reason and closes the connection", async () => {
  const caller = new AbortController();
  let closed: Promise<void> | undefined;
  respond((response) => {
    closed = closedByClient(response);
    caller.abort("changed my mind");
  });
  await expect(client.chat.completions.create(body, { signal: caller.signal })).rejects.toBe(
    "changed my mind",
  );
  await closed;
});

test("an abort while waiting for the next try rejects with the reason at once", async () => {
  respond(json(failure("overloaded", "rate_limit_error"), 429, { "retry-after": "30" }));
  const caller = new AbortController();
  setTimeout(() => caller.abort("changed my mind"), 50);
  const waiting = makeClient({ clock: systemClock }).chat.completions.create(body, { signal: caller.signal });
  await expect(waiting).rejects.toBe("changed my mind");
  expect(server.seen).toHaveLength(1);
}, 5_000);

test("a body that JSON cannot write fails as the caller's mistake, without a retry", async () => {
  respond(json(reply));
  await expect(client.chat.completions.create({ ...body, metadata: 1n })).rejects.toThrow(TypeError);
  expect(server.seen).toHaveLength(0);
  expect(delays).toEqual([]);
});

test("uses the fetch that it is given", async () => {
  const asked: string[] = [];
  const given: typeof fetch = async (input) => {
    asked.push(input instanceof Request ? input.url : input.toString());
    return Response.json(reply);
  };
  expect(await new Ingle({ fetch: given }).chat.completions.create(body)).toEqual(reply);
  expect(asked).toEqual(["http://127.0.0.1:1337/v1/chat/completions"]);
});
