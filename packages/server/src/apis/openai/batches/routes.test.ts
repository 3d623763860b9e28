// Files and batches over app.inject(), with a scripted model.
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Batch, type FileObject } from "@ingle/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { expectDocumented } from "../../../../test/documented.ts";
import { expectSoundResponses } from "../../../../test/hostile-bodies.ts";
import { scriptedApp, scriptedId, type ScriptedOptions } from "../../../../test/harness/scripted-server.ts";
import { makeKey, type KeyWish } from "../../../access/key-file.ts";
import { KeyRing } from "../../../access/keys.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-batches-"));
});
afterEach(() => rm(folder, { recursive: true }));

const endpoint = "/v1/chat/completions";
const toChat = { endpoint, completion_window: "24h" };

function chatLine(custom_id: string, more: object = {}): object {
  const messages = [{ role: "user", content: `Hi ${custom_id}` }];
  return { custom_id, method: "POST", url: endpoint, body: { model: scriptedId, messages, ...more } };
}

const chatLines = (count: number): object[] =>
  Array.from({ length: count }, (_, index) => chatLine(`line-${index}`));

interface Line {
  custom_id: string;
  response: { status_code: number; request_id: string; body: { error?: { code: string } } } | null;
}

const checked = new Set<string>();

/** Compares the first response of each operation and status with the documentation: that takes longer than the request. */
async function checkOnce(...[app, operation, response]: Parameters<typeof expectDocumented>): Promise<void> {
  const kind = `${operation} ${"statusCode" in response ? response.statusCode : response.status}`;
  if (!checked.has(kind)) await expectDocumented(app, operation, response);
  checked.add(kind);
}

/** An app with batches in the test's folder, and what its clients do. */
async function open({ flags, ...options }: ScriptedOptions = {}) {
  const scripted = await scriptedApp({ ...options, flags: { batchStore: folder, ...flags } });
  const { app } = scripted;
  const headers = (key?: string) => (key === undefined ? {} : { authorization: `Bearer ${key}` });
  const send = async (method: "GET" | "POST" | "DELETE", url: string, key?: string, payload?: object) => {
    const body = payload === undefined ? {} : { payload };
    const response = await app.inject({ method, url, headers: headers(key), ...body });
    return { status: response.statusCode, text: response.payload, json: response.json.bind(response) };
  };
  const upload = async (content: string | readonly object[], key?: string, fields: object = {}) => {
    const text =
      typeof content === "string" ? content : content.map((line) => `${JSON.stringify(line)}\n`).join("");
    const form = new FormData();
    form.append("file", new File([text], "in.jsonl"));
    for (const [name, value] of Object.entries({ purpose: "batch", ...fields })) form.append(name, value);
    const encoded = new Response(form);
    const type = encoded.headers.get("content-type") ?? "";
    const payload = Buffer.from(await encoded.arrayBuffer());
    const response = await app.inject({
      method: "POST",
      url: "/v1/files",
      headers: { ...headers(key), "content-type": type },
      payload,
    });
    await checkOnce(app, "POST /v1/files", response);
    return { status: response.statusCode, json: () => response.json<FileObject>() };
  };
  const create = async (content: string | readonly object[], key?: string, more: object = {}) => {
    const { id } = (await upload(content, key)).json();
    const body = { input_file_id: id, endpoint, completion_window: "24h", ...more };
    const response = await app.inject({
      method: "POST",
      url: "/v1/batches",
      headers: headers(key),
      payload: body,
    });
    await checkOnce(app, "POST /v1/batches", response);
    return response.json<Batch>();
  };
  const find = async (id: string, key?: string): Promise<Batch> =>
    (await send("GET", `/v1/batches/${id}`, key)).json<Batch>();
  const ended = async (id: string, key?: string): Promise<Batch> => {
    await expect
      .poll(async () => (await find(id, key)).status, { timeout: 10_000, interval: 5 })
      .toMatch(/^(completed|failed|cancelled)$/);
    return await find(id, key);
  };
  const lines = async (file: string | undefined, key?: string): Promise<Line[]> => {
    if (file === undefined) return [];
    const { text } = await send("GET", `/v1/files/${file}/content`, key);
    return text
      .trimEnd()
      .split("\n")
      .map((line): Line => JSON.parse(line));
  };
  return { ...scripted, send, upload, create, find, ended, lines };
}

const ids = (lines: readonly Line[]): string[] => lines.map(({ custom_id }) => custom_id).toSorted();
const unique = (lines: readonly Line[]): number => new Set(ids(lines)).size;

async function makeKeys(...wishes: Partial<KeyWish>[]): Promise<{ ring: () => KeyRing; keys: string[] }> {
  const made = await Promise.all(
    wishes.map((wish, index) => makeKey({ name: `key-${index}`, scope: "inference", ...wish })),
  );
  const ring = (): KeyRing => {
    const keys = new KeyRing();
    keys.needKey();
    keys.replaceEntries(
      "--keys",
      made.map(({ entry }) => entry),
    );
    return keys;
  };
  return { ring, keys: made.map(({ key }) => key) };
}

describe("a batch", () => {
  it("is computed behind all other requests, as many lines at once as the model computes and two more", async () => {
    await using server = await open({ script: { pieces: ["a", "b"], parallel: 3, delayMs: 2 } });
    const { id } = await server.create(chatLines(20));
    let most = 0;
    await expect
      .poll(() => (most = Math.max(most, server.log.running.size)), { interval: 1 })
      .toBeGreaterThan(3);
    const batch = await server.ended(id);
    expect(batch).toMatchObject({
      status: "completed",
      request_counts: { total: 20, completed: 20, failed: 0 },
      usage: { output_tokens: 40 },
    });
    expect(most).toBeLessThanOrEqual(5);
    expect(new Set(server.log.requests.map(({ priority }) => priority))).toEqual(new Set([-2]));
    expect(unique(await server.lines(batch.output_file_id))).toBe(20);
    expect(batch.error_file_id).toBeUndefined();
  });

  it("lists every kind of wrong line with its number, and computes nothing of such a file", async () => {
    await using server = await open();
    const wrong = [
      chatLine("a"),
      chatLine("a"),
      { ...chatLine("b"), custom_id: undefined },
      { ...chatLine("c"), url: "/v1/nothing" },
      { ...chatLine("d"), method: "GET" },
    ];
    const text = `${wrong.map((line) => JSON.stringify(line)).join("\n")}\n\nnot json\n`;
    const batch = await server.ended((await server.create(text)).id);
    expect(batch.status).toBe("failed");
    expect(batch.errors?.data.map(({ line, code, param }) => [line, code, param])).toEqual([
      [2, "invalid_request", "custom_id"],
      [3, "invalid_request", "custom_id"],
      [4, "invalid_request", "url"],
      [5, "invalid_request", "method"],
      [7, "invalid_json", null],
    ]);
    expect(server.log.requests).toEqual([]);
  });

  it("has the requests that its endpoint refuses in the file of errors", async () => {
    await using server = await open({ script: { pieces: ["a"] } });
    const { id } = await server.create([
      chatLine("right"),
      chatLine("warm", { temperature: -1 }),
      chatLine("other", { model: "nobody" }),
    ]);
    const batch = await server.ended(id);
    expect(batch).toMatchObject({ status: "completed", request_counts: { completed: 1, failed: 2 } });
    expect(ids(await server.lines(batch.output_file_id))).toEqual(["right"]);
    const errors = (await server.lines(batch.error_file_id)).map(({ custom_id, response }) => [
      custom_id,
      response?.status_code,
      response?.body.error?.code,
    ]);
    expect(new Set(errors.map((each) => each.join(" ")))).toEqual(
      new Set(["warm 400 invalid_request", "other 404 model_not_found"]),
    );
  });

  it("that is cancelled ends with the results that it has", async () => {
    await using server = await open({ script: { pieces: ["a"], parallel: 1, delayMs: 10 } });
    const { id } = await server.create(chatLines(500));
    await expect.poll(async () => (await server.find(id)).request_counts.completed).toBeGreaterThan(2);
    const { status, text } = await server.send("POST", `/v1/batches/${id}/cancel`);
    expect([status, JSON.parse(text)]).toMatchObject([200, { status: "cancelling" }]);
    const batch = await server.ended(id);
    expect(batch.status).toBe("cancelled");
    const { completed } = batch.request_counts;
    expect(completed).toBeLessThan(100);
    expect(unique(await server.lines(batch.output_file_id))).toBe(completed);
    await expect.poll(() => server.log.running.size).toBe(0);
    expect((await server.send("POST", `/v1/batches/${id}/cancel`)).status).toBe(400);
  });

  it("goes on after its server was closed and opened again: each line once, also with a key of a file", async () => {
    const { ring, keys } = await makeKeys({});
    const script = { pieces: ["a"], parallel: 2, delayMs: 3 };
    let id = "";
    let before = 0;
    {
      await using server = await open({ script, keys: ring() });
      ({ id } = await server.create(chatLines(60), keys[0]));
      await expect
        .poll(async () => (await server.find(id, keys[0])).request_counts.completed)
        .toBeGreaterThan(5);
      before = (await server.find(id, keys[0])).request_counts.completed;
    }
    // The key's hash has not been compared yet: its entry is found by name.
    await using server = await open({ script: { pieces: ["a"] }, keys: ring() });
    await server.app.ready();
    await expect.poll(() => server.log.requests.length).toBeGreaterThan(0);
    const batch = await server.ended(id, keys[0]);
    expect(batch).toMatchObject({
      status: "completed",
      request_counts: { total: 60, completed: 60, failed: 0 },
    });
    const lines = await server.lines(batch.output_file_id, keys[0]);
    expect([lines.length, unique(lines)]).toEqual([60, 60]);
    expect(server.log.requests.length).toBeLessThanOrEqual(60 - before);
  });

  it("computes embeddings and responses, which are not stored", async () => {
    await using server = await open({ script: { pieces: ["a"] } });
    const line = {
      custom_id: "r",
      method: "POST",
      url: "/v1/responses",
      body: { model: scriptedId, input: "Hi" },
    };
    const batch = await server.ended(
      (await server.create([line], undefined, { endpoint: "/v1/responses" })).id,
    );
    const [result] = await server.lines(batch.output_file_id);
    expect(result?.response?.body).toMatchObject({ object: "response", status: "completed", store: false });
  });
});

describe("files and batches", () => {
  it("respond as documented", async () => {
    await using server = await open({ script: { pieces: ["a"] } });
    const { id, input_file_id: file } = await server.ended((await server.create(chatLines(1))).id);
    const running = (await server.create(chatLines(1))).id;
    for (const [operation, url] of [
      ["GET /v1/files", "/v1/files"],
      ["GET /v1/files/{id}", `/v1/files/${file}`],
      ["GET /v1/files/{id}/content", `/v1/files/${file}/content`],
      ["GET /v1/batches", "/v1/batches"],
      ["GET /v1/batches/{id}", `/v1/batches/${id}`],
      ["POST /v1/batches/{id}/cancel", `/v1/batches/${running}/cancel`],
      ["DELETE /v1/files/{id}", `/v1/files/${file}`],
    ] as const) {
      const [method] = operation.split(" ");
      if (method !== "GET" && method !== "POST" && method !== "DELETE") throw new Error(method);
      const response = await server.app.inject({ method, url });
      expect([operation, response.statusCode]).toEqual([operation, 200]);
      await expectDocumented(server.app, operation, response);
    }
  });

  it("answer every body with a valid response or a documented error", async () => {
    await using server = await open();
    const { id: input_file_id } = (await server.upload("\n")).json();
    const url = await server.app.listen({ port: 0 });
    const body = { input_file_id, endpoint, completion_window: "24h", metadata: { a: "b" } };
    const border = { endpoint: ["/v1/embeddings", "/v1/responses"], metadata: [null, {}] };
    await expectSoundResponses(url, { path: "/v1/batches", body, response: Batch, border }, { runs: 40 });
  });

  it("belong to the key that made them", async () => {
    const { ring, keys } = await makeKeys({}, {});
    await using server = await open({ script: { pieces: ["a"] }, keys: ring() });
    const [own, other] = keys;
    const { id } = await server.create(chatLines(1), own);
    const { input_file_id, output_file_id } = await server.ended(id, own);
    for (const [method, url] of [
      ["GET", `/v1/batches/${id}`],
      ["POST", `/v1/batches/${id}/cancel`],
      ["GET", `/v1/files/${input_file_id}`],
      ["GET", `/v1/files/${output_file_id}/content`],
      ["DELETE", `/v1/files/${input_file_id}`],
    ] as const)
      expect([url, (await server.send(method, url, other)).status]).toEqual([url, 404]);
    const body = { input_file_id, ...toChat };
    expect((await server.send("POST", "/v1/batches", other, body)).status).toBe(404);
    for (const [list, count] of [
      ["/v1/files", 2],
      ["/v1/batches", 1],
    ] as const) {
      expect((await server.send("GET", list, other)).json()).toMatchObject({ data: [] });
      expect((await server.send("GET", list, own)).json().data).toHaveLength(count);
    }
  });

  it("of a key with limits are computed within them", async () => {
    const { ring, keys } = await makeKeys({ models: ["other"] }, { tokens_per_minute: 1 });
    await using server = await open({ script: { pieces: ["a"] }, keys: ring() });
    const hidden = await server.ended((await server.create(chatLines(1), keys[0])).id, keys[0]);
    expect((await server.lines(hidden.error_file_id, keys[0]))[0]?.response?.status_code).toBe(404);

    const limited = await server.create(chatLines(20), keys[1]);
    await expect
      .poll(async () => (await server.find(limited.id, keys[1])).request_counts.completed)
      .toBeGreaterThan(0);
    const { requests } = server.log;
    const sent = requests.length;
    await new Promise((resolve) => setTimeout(resolve, 100)); // time for more, if nothing held them
    expect(requests.length).toBe(sent);
    expect(sent).toBeLessThan(20);
    expect((await server.find(limited.id, keys[1])).status).toBe("in_progress");
  });

  it("of a key that is revoked are not computed any more", async () => {
    const { ring, keys } = await makeKeys({});
    const all = ring();
    await using server = await open({ script: { pieces: ["a"], parallel: 1, delayMs: 10 }, keys: all });
    const { id } = await server.create(chatLines(100), keys[0]);
    await expect
      .poll(async () => (await server.find(id, keys[0])).request_counts.completed)
      .toBeGreaterThan(0);
    const { entries } = all;
    all.replaceEntries("--keys", []);
    expect((await server.send("GET", `/v1/batches/${id}`, keys[0])).status).toBe(401);
    const results = async (): Promise<string> => {
      const below = path.join(folder, "files");
      const texts = (await readdir(below)).map((name) => readFile(path.join(below, name), "utf8"));
      return (await Promise.all(texts)).join("");
    };
    await expect.poll(results).toContain('"status_code":401');
    all.replaceEntries("--keys", entries); // only so that the batch can be read
    const batch = await server.ended(id, keys[0]);
    expect(batch.request_counts.failed).toBeGreaterThan(0);
    expect((await server.lines(batch.error_file_id, keys[0]))[0]?.response?.body.error?.code).toBe(
      "unauthorized",
    );
  });

  it("are listed in pages", async () => {
    await using server = await open({ script: { pieces: ["a"] } });
    const made: string[] = [];
    for (let count = 0; count < 3; count += 1) made.unshift((await server.create(chatLines(1))).id);
    const first = (await server.send("GET", "/v1/batches?limit=2")).json();
    expect(first).toMatchObject({ first_id: made[0], last_id: made[1], has_more: true });
    const rest = (await server.send("GET", `/v1/batches?limit=2&after=${made[1]}`)).json();
    expect(rest).toMatchObject({ first_id: made[2], last_id: made[2], has_more: false });
    const oldest = (await server.send("GET", "/v1/files?purpose=batch&order=asc&limit=1")).json();
    const newest = (await server.send("GET", "/v1/files?purpose=batch&limit=1")).json();
    expect(oldest.data[0].created_at).toBeLessThanOrEqual(newest.data[0].created_at);
    expect(oldest.first_id).not.toBe(newest.first_id);
  });

  it("refuse what they do not keep", async () => {
    await using server = await open();
    expect((await server.upload("x", undefined, { purpose: "fine-tune" })).json()).toMatchObject({
      error: { param: "purpose", message: expect.stringContaining("purpose must be batch") },
    });
    expect((await server.upload("x", undefined, { "expires_after[seconds]": "3600" })).json()).toMatchObject({
      error: { param: "expires_after" },
    });
    const none = await server.ended((await server.create("\n")).id);
    expect(none).toMatchObject({ status: "failed", errors: { data: [{ line: null }] } });
    // Nothing of refused uploads is left.
    expect(await readdir(path.join(folder, "incoming"))).toEqual([]);
  });

  it("are refused when all files together are too large, and the size of one is limited before it is read", async () => {
    await using server = await open({ flags: { batchStoreSize: 1 } });
    expect((await server.upload("x".repeat(1024 * 1024))).status).toBe(200);
    expect(await server.upload("x")).toMatchObject({ status: 507 });
    const headers = { "content-type": "multipart/form-data; boundary=b", "content-length": "300000000" };
    await using roomy = await open({ flags: { batchStore: path.join(folder, "roomy") } });
    const tooLarge = await roomy.app.inject({ method: "POST", url: "/v1/files", headers, payload: "--b" });
    expect([tooLarge.statusCode, tooLarge.json()]).toMatchObject([413, { error: { param: "file" } }]);
  });

  it("can be deleted, but not while a batch reads them", async () => {
    await using server = await open({ script: { pieces: ["a"], parallel: 1, delayMs: 20 } });
    const { id, input_file_id } = await server.create(chatLines(100));
    const url = `/v1/files/${input_file_id}`;
    const refused = await server.send("DELETE", url);
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(id)]);
    await server.send("POST", `/v1/batches/${id}/cancel`);
    await server.ended(id);
    expect((await server.send("DELETE", url)).json()).toEqual({
      id: input_file_id,
      object: "file",
      deleted: true,
    });
    expect((await server.send("GET", url)).status).toBe(404);
    expect(await readdir(path.join(folder, "files"))).not.toContain(`${input_file_id}.jsonl`);
  });

  it("need a folder that no other server uses", async () => {
    const expectNotEnabled = async (flags: ScriptedOptions["flags"], why: string) => {
      await using scripted = await scriptedApp({ flags });
      const response = await scripted.app.inject("/v1/files");
      await expectDocumented(scripted.app, "GET /v1/files", response);
      expect([response.statusCode, response.json().error.message]).toEqual([
        501,
        expect.stringContaining(why),
      ]);
    };
    await expectNotEnabled({}, "--batch-store");
    await expectNotEnabled({ batchStore: "none" }, "--batch-store is none");
    await using first = await open();
    await first.send("GET", "/v1/files");
    await expectNotEnabled({ batchStore: folder }, "another process uses it");
    await writeFile(path.join(folder, "file"), "");
    await expectNotEnabled({ batchStore: path.join(folder, "file", "below") }, "cannot be opened");
  });
});
