// The management API: what each call sends, and which responses it accepts.
import { expect, test } from "vitest";

import { events, json } from "../test/misbehaving-server.ts";
import { serverAndClient } from "../test/server-and-client.ts";

const { server, client } = await serverAndClient("/proxy/v1");

const job = { id: "j1", kind: "pull", status: "running" };
const jobs = { object: "list", data: [job] };
const machine = { platform: "linux x64", devices: [] };
const request = { id: "r1", status: "cancelled" };
const control = { status: "running", can_control: false };
const keys = { object: "list", data: [] };
const key = { id: "k1", name: "laptop", ending: "wxyz", key: "secret-wxyz" };
const mcp = { object: "list", data: [], file: "/home/me/mcp.json", problem: null, rounds: 25 };
const toolCall = {
  server: "files",
  tool: "read",
  arguments: { path: "a" },
  model: "a",
  approval: "once",
} as const;
const toolResult = { status: "done", content: [{ type: "text", text: "Milk." }] };
const proof = { browser: "b", challenge: "c", signature: "s" };
const records = { object: "list", data: [] };
const session = { right: "management", is_app: true, keeps_chats: true };
const model = { id: "a", status: "loaded", pinned: true };
const estimate = { model: "a", fits: "tight", reason: "The context is shorter." };

type Call = [name: string, call: () => Promise<unknown>, asked: unknown[], response: object];
const calls: Call[] = [
  ["jobs.list", () => client.jobs.list(), ["GET", "/jobs"], jobs],
  [
    "jobs.start",
    () => client.jobs.start({ kind: "pull", model: "a/b" }),
    ["POST", "/jobs", { kind: "pull", model: "a/b" }],
    job,
  ],
  ["jobs.pause", () => client.jobs.pause("j1"), ["POST", "/jobs/pause", { id: "j1" }], job],
  ["jobs.resume", () => client.jobs.resume("j1"), ["POST", "/jobs/resume", { id: "j1" }], job],
  ["jobs.cancel", () => client.jobs.cancel("j1"), ["POST", "/jobs/cancel", { id: "j1" }], job],
  ["machine.get", () => client.machine.get(), ["GET", "/machine"], machine],
  [
    "requests.cancel",
    () => client.requests.cancel("r1"),
    ["POST", "/requests/cancel", { id: "r1" }],
    request,
  ],
  [
    "requests.keepBodies",
    () => client.requests.keepBodies(true),
    ["POST", "/requests/bodies", { keep: true }],
    { keeps_bodies: true },
  ],
  ["serverControl.get", () => client.serverControl.get(), ["GET", "/server"], control],
  ["serverControl.start", () => client.serverControl.start(), ["POST", "/server/start", {}], control],
  ["serverControl.stop", () => client.serverControl.stop(), ["POST", "/server/stop", {}], control],
  [
    "serverControl.start without waiting",
    () => client.serverControl.start({ wait: false }),
    ["POST", "/server/start", { wait: false }],
    control,
  ],
  [
    "serverControl.change",
    () => client.serverControl.change({ port: 4242 }),
    ["POST", "/server/settings", { port: 4242 }],
    control,
  ],
  ["serverControl.keys", () => client.serverControl.keys(), ["GET", "/server/keys"], keys],
  [
    "serverControl.createKey",
    () => client.serverControl.createKey({ name: "laptop", scope: "inference" }),
    ["POST", "/server/keys", { name: "laptop", scope: "inference" }],
    key,
  ],
  [
    "serverControl.revokeKey",
    () => client.serverControl.revokeKey("k1"),
    ["POST", "/server/keys/revoke", { id: "k1" }],
    keys,
  ],
  ["mcp.list", () => client.mcp.list(), ["GET", "/mcp"], mcp],
  ["mcp.start", () => client.mcp.start("files"), ["POST", "/mcp/start", { name: "files" }], mcp],
  ["mcp.stop", () => client.mcp.stop("files"), ["POST", "/mcp/stop", { name: "files" }], mcp],
  ["mcp.call", () => client.mcp.call(toolCall), ["POST", "/mcp/call", toolCall], toolResult],
  ["chats.list", () => client.chats.list(), ["GET", "/chats"], records],
  [
    "chats.inside",
    () => client.chats.inside("a b", "message"),
    ["GET", "/chats/records?conversation_id=a+b&kind=message"],
    records,
  ],
  [
    "chats.change",
    () => client.chats.change({ page: "p", changes: [] }),
    ["POST", "/chats/changes", { page: "p", changes: [] }],
    { applied: [], revision: 1 },
  ],
  [
    "chats.note",
    () => client.chats.note({ page: "p", type: "i-write", id: "a" }),
    ["POST", "/chats/notes", { page: "p", type: "i-write", id: "a" }],
    { sent: true },
  ],
  ["session.get", () => client.session.get(), ["GET", "/session"], session],
  [
    "session.remember",
    () => client.session.remember({ x: "x", y: "y" }),
    ["POST", "/session/browser", { x: "x", y: "y" }],
    { browser: "b" },
  ],
  [
    "session.forget",
    () => client.session.forget("b"),
    ["POST", "/session/forget", { browser: "b" }],
    { browser: "b" },
  ],
  [
    "session.challenge",
    () => client.session.challenge(),
    ["POST", "/session/challenge", {}],
    { challenge: "c" },
  ],
  ["session.comeBack", () => client.session.comeBack(proof), ["POST", "/session/return", proof], session],
  ["session.begin", () => client.session.begin("secret"), ["POST", "/session", { key: "secret" }], session],
  [
    "library.estimate",
    () => client.library.estimate("a", { context_length: 4096, kv_bits: 8 }),
    ["POST", "/models/estimate", { model: "a", context_length: 4096, kv_bits: 8 }],
    estimate,
  ],
  [
    "library.pin",
    () => client.library.pin("a", false),
    ["POST", "/models/pin", { model: "a", pinned: false }],
    model,
  ],
];

test.each(calls)("%s requests its route", async (_name, call, [method, path, body], response) => {
  server.respond(json(response));
  expect(await call()).toEqual(response);
  const [seen] = server.seen;
  expect([seen?.method, seen?.url]).toEqual([method, `/proxy/api/v1${String(path)}`]);
  expect(seen?.body === "" ? undefined : JSON.parse(seen?.body ?? "")).toEqual(body);
});

test.each(calls)("%s rejects a response of another shape", async (_name, call) => {
  server.respond(json({ ok: true }));
  await expect(call()).rejects.toMatchObject({ name: "ApiError", status: 200 });
});

test.each(calls)("%s rejects with the server's reason", async (_name, call) => {
  server.respond(json({ error: { message: "No.", type: "permission_error", code: "forbidden" } }, 403));
  await expect(call()).rejects.toMatchObject({ name: "ApiError", status: 403, code: "forbidden" });
});

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const state = { type: "state", jobs: [] };
const log = { type: "log", lines: [] };

test("events are yielded as they arrive, and a server that goes away is an error", async () => {
  server.respond(events(data(state), ":\n\n", data(log)));
  const seen: unknown[] = [];
  const read = async () => {
    for await (const event of await client.events()) seen.push(event.type);
  };
  await expect(read()).rejects.toMatchObject({ name: "StreamError", code: "stream_incomplete" });
  expect(seen).toEqual(["state", "log"]);
  expect(server.seen).toMatchObject([{ method: "GET", url: "/proxy/api/v1/events" }]);
});

test("leaving the loop closes the stream", async () => {
  let isClosed = false;
  server.respond((response) => {
    response.on("close", () => (isClosed = true));
    response.writeHead(200, { "content-type": "text/event-stream" }).write(data(state));
  });
  for await (const event of await client.events()) {
    expect(event.type).toBe("state");
    break;
  }
  await expect.poll(() => isClosed).toBe(true);
});

test("a stream of other data, and a response that is not a stream, are errors", async () => {
  server.respond(events(data({ choices: [] })), json({ ok: true }));
  const stream = await client.events();
  await expect(stream[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: "stream_invalid" });
  await expect(client.events()).rejects.toMatchObject({ name: "ApiError" });
});
