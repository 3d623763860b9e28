// llama-server's POST /slots/{id} with a real server over a real socket: saved, restored after a restart, and erased.
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { LlamaServerCompletion, LlamaServerError } from "@ingle/protocol";
import { afterEach, beforeEach, expect, it } from "vitest";
import { expectDocumented } from "./documented.ts";
import { realServer, user, type RealServer } from "./real-server.ts";

const flags = { llamaServerApi: true, variant: "command-line" };
const prompt = "The river is quiet tonight, and nobody asks why. ".repeat(8);

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-slots-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function started(load: object = {}): Promise<RealServer> {
  return await realServer({ load: { contextLength: 1024, parallel: 2, slotDir: folder, ...load }, flags });
}

async function post({ baseUrl }: RealServer, route: string, body?: object): Promise<Response> {
  return await fetch(new URL(route, baseUrl), {
    method: "POST",
    ...(body === undefined
      ? {}
      : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
}

async function complete(server: RealServer, body: object = {}): Promise<LlamaServerCompletion> {
  const response = await post(server, "/completion", { prompt, temperature: 0, n_predict: 8, ...body });
  expect(response.status).toBe(200);
  return LlamaServerCompletion.parse(await response.json());
}

async function change(
  server: RealServer,
  slot: number | string,
  action: string,
  body?: object,
): Promise<{ status: number; body: unknown }> {
  const response = await post(server, `/slots/${slot}?action=${action}`, body);
  const [json] = await expectDocumented(
    new URL("/", server.baseUrl).href.slice(0, -1),
    "POST /slots/{id}",
    response,
  );
  return { status: response.status, body: json };
}

async function refused(...args: Parameters<typeof change>): Promise<LlamaServerError["error"]> {
  const { status, body } = await change(...args);
  const { error } = LlamaServerError.parse(body);
  expect(status).toBe(error.code);
  return error;
}

it("a slot is saved and restored by another server, which does not compute its text again", async () => {
  const first = await started();
  const computed = await complete(first, { id_slot: 1 });
  expect(computed).toMatchObject({ id_slot: 1, timings: { cache_n: 0 } });
  const saved = await change(first, 1, "save", { filename: "river.bin" });
  await first[Symbol.asyncDispose]();
  const tokens = computed.tokens_evaluated + 7;
  expect(saved).toEqual({
    status: 200,
    body: {
      id_slot: 1,
      filename: "river.bin",
      n_saved: tokens,
      n_written: expect.any(Number),
      timings: { save_ms: expect.any(Number) },
    },
  });

  await using second = await started();
  expect(await change(second, 0, "restore", { filename: "river.bin" })).toMatchObject({
    status: 200,
    body: {
      id_slot: 0,
      n_restored: tokens,
      n_read: expect.any(Number),
      timings: { restore_ms: expect.any(Number) },
    },
  });
  const again = await complete(second);
  expect(again.content).toBe(computed.content);
  expect(again.id_slot).toBe(1);
  expect(again.timings).toMatchObject({ cache_n: computed.tokens_evaluated - 1, prompt_n: 1 });
});

it("an erased slot's text is computed again, without a body in the request", async () => {
  await using server = await started();
  const computed = await complete(server, { id_slot: 0 });
  expect((await complete(server, { id_slot: 0 })).timings.prompt_n).toBe(1);
  expect(await change(server, 0, "erase")).toEqual({
    status: 200,
    body: { id_slot: 0, n_erased: computed.tokens_evaluated + 7 },
  });
  expect((await complete(server, { id_slot: 0 })).timings.prompt_n).toBe(computed.tokens_evaluated);
});

it("a slot is named by requests of every protocol, and chosen for those that name none", async () => {
  await using server = await started();
  const chat = { messages: user("The river. ".repeat(30)), max_tokens: 4, id_slot: 1 };
  expect((await post(server, "/chat/completions", chat)).status).toBe(200);
  expect(await change(server, 1, "save", { filename: "chat.bin" })).toMatchObject({ status: 200 });
  expect((await complete(server)).id_slot).toBe(0);
  const response = await post(server, "/completion", { prompt, n_predict: 1, id_slot: 2 });
  expect([response.status, await response.json()]).toMatchObject([400, { error: { param: "id_slot" } }]);
});

it("what cannot be done is an error that says why", async () => {
  await using server = await started();
  expect(await refused(server, 0, "save", { filename: "a.bin" })).toMatchObject({
    code: 400,
    message: expect.stringContaining("Slot 0 has no text"),
  });
  await complete(server, { id_slot: 0 });
  for (const filename of ["../a.bin", "a/b", "", "x".repeat(201)])
    expect(await refused(server, 0, "save", { filename })).toMatchObject({ code: 400, param: "filename" });
  expect(await refused(server, 0, "save")).toMatchObject({ code: 400, param: "filename" });
  expect(await refused(server, 0, "restore", { filename: "none.bin" })).toMatchObject({ code: 400 });
  expect(await refused(server, 0, "move", {})).toMatchObject({ code: 400, param: "action" });
  expect(await refused(server, 2, "erase")).toMatchObject({ code: 400, param: "id" });
  expect(await refused(server, "one", "erase")).toMatchObject({ code: 400, param: "id" });
  expect(await readdir(folder)).toEqual([]);
});

it("without a folder, slots are a 501 that names the flag", async () => {
  await using server = await started({ slotDir: undefined });
  await complete(server, { id_slot: 0 });
  for (const action of ["save", "restore", "erase"])
    expect(await refused(server, 0, action, { filename: "a.bin" })).toMatchObject({
      code: 501,
      type: "not_supported_error",
      message: expect.stringContaining("--slot-save-path"),
    });
  const response = await post(server, "/slots/0?action=erase");
  expect(response.headers.get("x-should-retry")).toBe("false");
});
