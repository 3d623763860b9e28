// The contract of stored responses with the client that most programs use.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import type { ServerFlags } from "../../../config.ts";
import {
  scriptedId,
  scriptedServer,
  type ScriptedOptions,
} from "../../../../test/harness/scripted-server.ts";

type Server = Awaited<ReturnType<typeof scriptedServer>>;

const pieces = ["Sun", "ny", "."];
const slow = { pieces: Array.from({ length: 1000 }, () => "x"), delayMs: 5 };
const request = { model: scriptedId, input: "What is the weather in Rome?" };

function makeClient({ server }: Server, apiKey = "any-placeholder"): OpenAI {
  return new OpenAI({ baseURL: `${server.url}/v1`, apiKey, maxRetries: 0 });
}

async function withClient(
  test: (openai: OpenAI, scripted: Server) => Promise<void>,
  options: { script?: ScriptedOptions["script"]; flags?: ServerFlags } = {},
): Promise<void> {
  await using scripted = await scriptedServer({ script: { pieces }, ...options });
  await test(makeClient(scripted), scripted);
}

async function collect<T>(list: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of list) items.push(item);
  return items;
}

describe("a stored response", () => {
  it("is fetched as it was, also one that was streamed", () =>
    withClient(async (openai) => {
      const response = await openai.responses.create({ ...request, metadata: { a: "b" } });
      expect(await openai.responses.retrieve(response.id)).toEqual(response);
      const streamed = await openai.responses.stream(request).finalResponse();
      expect((await openai.responses.retrieve(streamed.id)).output_text).toBe("Sunny.");
    }));

  it("is continued without any input", () =>
    withClient(async (openai, { log }) => {
      const { input, ...rest } = request;
      const first = await openai.responses.create(request);
      const second = await openai.responses.create({ ...rest, previous_response_id: first.id });
      expect(log.prompts[1]).toBe(`user: ${input}\nassistant: Sunny.`);
      await openai.responses.create({ ...rest, input: [], previous_response_id: second.id });
      expect(log.prompts[2]).toBe(`user: ${input}\nassistant: Sunny.\nassistant: Sunny.`);
      expect(await collect(openai.responses.inputItems.list(second.id))).toHaveLength(2);
    }));

  it("is continued with everything that came before, again and again", () =>
    withClient(async (openai, { log }) => {
      const first = await openai.responses.create({ ...request, instructions: "Be brief." });
      const second = await openai.responses.create({
        ...request,
        input: [{ role: "user", content: "And tomorrow?" }],
        previous_response_id: first.id,
      });
      expect(second.previous_response_id).toBe(first.id);
      await openai.responses.create({ ...request, input: "Why?", previous_response_id: second.id });
      // Instructions are each request's own.
      expect(log.prompts[2]).toBe(
        [
          "user: What is the weather in Rome?",
          "assistant: Sunny.",
          "user: And tomorrow?",
          "assistant: Sunny.",
          "user: Why?",
        ].join("\n"),
      );
    }));

  it("keeps and lists items of other services' tools, which the model does not see", () =>
    withClient(async (openai, { log }) => {
      const search = {
        type: "web_search_call",
        status: "completed",
        action: { type: "search", query: "Rome" },
      };
      const { id } = await openai.responses.create({
        ...request,
        input: [search, { role: "user", content: "Why?" }] as never,
      });
      const [kept] = await collect(openai.responses.inputItems.list(id, { order: "asc" }));
      expect(kept).toMatchObject({ ...search, id: expect.stringMatching(/^item_/) });
      await openai.responses.create({ ...request, input: "And?", previous_response_id: id });
      expect(log.prompts[1]).toBe("user: Why?\nassistant: Sunny.\nuser: And?");
    }));

  it("lists the items that it was generated from, page by page", () =>
    withClient(async (openai) => {
      const first = await openai.responses.create(request);
      const { id } = await openai.responses.create({
        ...request,
        input: [{ id: "mine", role: "user", content: "Why?" }] as never,
        previous_response_id: first.id,
      });
      const items = await collect(openai.responses.inputItems.list(id, { order: "asc", limit: 1 }));
      expect(items).toMatchObject([
        { type: "message", role: "user", content: [{ type: "input_text", text: request.input }] },
        { id: first.output[0]?.id, role: "assistant", content: [{ type: "output_text", text: "Sunny." }] },
        { id: "mine", role: "user", content: [{ type: "input_text", text: "Why?" }] },
      ]);
      const newest = await openai.responses.inputItems.list(id, { limit: 2 });
      expect(newest.data.map((item) => item.id)).toEqual(["mine", first.output[0]?.id]);
      expect(newest.has_more).toBe(true);
      await expect(openai.responses.inputItems.list(id, { after: "no such item" })).rejects.toMatchObject({
        status: 400,
        param: "after",
      });
    }));

  it("is gone when it is deleted, and what continued it is not", () =>
    withClient(async (openai) => {
      const first = await openai.responses.create(request);
      const second = await openai.responses.create({ ...request, previous_response_id: first.id });
      await openai.responses.delete(first.id);
      await expect(openai.responses.retrieve(first.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
      await expect(openai.responses.delete(first.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
      await expect(
        openai.responses.create({ ...request, previous_response_id: first.id }),
      ).rejects.toMatchObject({ status: 400, param: "previous_response_id" });
      expect(await collect(openai.responses.inputItems.list(second.id))).toHaveLength(3);
    }));

  it("is not stored where the request says so", () =>
    withClient(async (openai) => {
      const response = await openai.responses.create({ ...request, store: false });
      expect(response).toMatchObject({ store: false });
      const { id } = response;
      await expect(openai.responses.retrieve(id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    }));

  it("makes room for newer ones", () =>
    withClient(
      async (openai) => {
        const ids: string[] = [];
        for (let count = 0; count < 3; count += 1) ids.push((await openai.responses.create(request)).id);
        const [oldest = "", ...kept] = ids;
        await expect(openai.responses.retrieve(oldest)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
        for (const id of kept) expect((await openai.responses.retrieve(id)).id).toBe(id);
      },
      { flags: { responseStoreMax: 2 } },
    ));

  it("is read, continued, cancelled and deleted only with the key that made it", async () => {
    await using scripted = await scriptedServer({ script: { pieces }, flags: { apiKey: ["one", "two"] } });
    const [one, two] = [makeClient(scripted, "one"), makeClient(scripted, "two")];
    const { id } = await one.responses.create(request);
    for (const tried of [
      () => two.responses.retrieve(id),
      () => two.responses.inputItems.list(id),
      () => two.responses.cancel(id),
      () => two.responses.delete(id),
    ])
      await expect(tried()).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(two.responses.create({ ...request, previous_response_id: id })).rejects.toMatchObject({
      status: 400,
    });
    expect((await one.responses.retrieve(id)).id).toBe(id);
  });

  it("cannot be cancelled or streamed if it was not generated in the background", () =>
    withClient(async (openai) => {
      const { id } = await openai.responses.create(request);
      await expect(openai.responses.cancel(id)).rejects.toMatchObject({ status: 400 });
      await expect(openai.responses.retrieve(id, { stream: true })).rejects.toMatchObject({ status: 400 });
    }));
});

describe("a conversation", () => {
  const hello = { role: "user" as const, content: "Hello!" };

  it("is created, changed and deleted", () =>
    withClient(async ({ conversations }) => {
      const created = await conversations.create({ items: [hello], metadata: { a: "b" } });
      expect(created).toMatchObject({ object: "conversation", metadata: { a: "b" } });
      expect(await conversations.retrieve(created.id)).toEqual(created);
      const changed = await conversations.update(created.id, { metadata: { c: "d" } });
      expect(changed).toEqual({ ...created, metadata: { c: "d" } });
      expect(await conversations.retrieve(created.id)).toEqual(changed);
      expect(await collect(conversations.items.list(created.id))).toHaveLength(1);
      expect(await conversations.delete(created.id)).toMatchObject({ deleted: true });
      await expect(conversations.retrieve(created.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    }));

  it("has items that are added, fetched and deleted one by one", () =>
    withClient(async ({ conversations }) => {
      const { id } = await conversations.create();
      const { data } = await conversations.items.create(id, {
        items: [hello, { ...hello, content: "Again!" }],
      });
      expect(data).toMatchObject([
        { type: "message", content: [{ type: "input_text", text: "Hello!" }] },
        { type: "message", content: [{ type: "input_text", text: "Again!" }] },
      ]);
      const [first = "", second = ""] = data.map((item) => item.id);
      expect(await conversations.items.retrieve(first, { conversation_id: id })).toEqual(data[0]);
      await conversations.items.delete(first, { conversation_id: id });
      await expect(conversations.items.retrieve(first, { conversation_id: id })).rejects.toMatchObject({
        status: 404,
      });
      expect((await collect(conversations.items.list(id))).map((item) => item.id)).toEqual([second]);
    }));

  it.each([false, true])("is continued and grows with each response (background: %s)", (background) =>
    withClient(async (openai, { log }) => {
      const { id } = await openai.conversations.create({ items: [hello] });
      for (const input of ["One", "Two"]) {
        const response = await openai.responses.create({ ...request, input, conversation: id, background });
        expect(response.conversation).toEqual({ id });
        await expect
          .poll(async () => (await openai.responses.retrieve(response.id)).status)
          .toBe("completed");
      }
      const lines = ["user: Hello!", "user: One", "assistant: Sunny.", "user: Two"];
      expect(log.prompts[1]).toBe(lines.join("\n"));
      const items = await collect(openai.conversations.items.list(id, { order: "asc", limit: 2 }));
      expect(items).toMatchObject([
        { role: "user" },
        { role: "user" },
        { role: "assistant", content: [{ text: "Sunny." }] },
        { role: "user" },
        { role: "assistant" },
      ]);
    }),
  );

  it("is continued without any input, unless it is empty", () =>
    withClient(async ({ conversations, responses }, { log }) => {
      const { model } = request;
      const { id } = await conversations.create({ items: [hello] });
      await responses.create({ model, conversation: id });
      expect(log.prompts[0]).toBe("user: Hello!");
      expect(await collect(conversations.items.list(id))).toHaveLength(2);
      const empty = await conversations.create();
      await expect(responses.create({ model, conversation: empty.id })).rejects.toMatchObject({
        status: 400,
        param: "input",
      });
    }));

  it("is another key's secret", async () => {
    await using scripted = await scriptedServer({ script: { pieces }, flags: { apiKey: ["one", "two"] } });
    const [one, two] = [makeClient(scripted, "one"), makeClient(scripted, "two")];
    const { id } = await one.conversations.create();
    await expect(two.conversations.retrieve(id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(two.responses.create({ ...request, conversation: id })).rejects.toBeInstanceOf(
      OpenAI.NotFoundError,
    );
  });

  it("that is not there is an error, as is one that is larger than the store", () =>
    withClient(
      async (openai) => {
        await expect(openai.responses.create({ ...request, conversation: "conv_1" })).rejects.toMatchObject({
          status: 404,
        });
        const long = { ...hello, content: "x".repeat(600_000) };
        const { id } = await openai.conversations.create({ items: [long] });
        await expect(openai.conversations.items.create(id, { items: [long] })).rejects.toMatchObject({
          status: 413,
        });
        expect(await collect(openai.conversations.items.list(id))).toHaveLength(1);
      },
      { flags: { responseStoreSize: 1 } },
    ));
});

describe("a store in a file", () => {
  it("has its responses and conversations after a restart, and says which one the server did not end", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "ingle-responses-"));
    const flags = { responseStore: path.join(folder, "responses.db") };
    try {
      let [id, conversation, endless] = ["", "", ""];
      {
        await using scripted = await scriptedServer({ script: { pieces }, flags });
        const openai = makeClient(scripted);
        ({ id } = await openai.responses.create(request));
        ({ id: conversation } = await openai.conversations.create({ metadata: { a: "b" } }));
      }
      {
        await using scripted = await scriptedServer({ script: slow, flags });
        ({ id: endless } = await makeClient(scripted).responses.create({ ...request, background: true }));
      }
      await using scripted = await scriptedServer({ script: { pieces }, flags });
      const openai = makeClient(scripted);
      expect((await openai.responses.retrieve(id)).output_text).toBe("Sunny.");
      await openai.responses.create({ ...request, previous_response_id: id });
      expect(scripted.log.prompts[0]).toContain("assistant: Sunny.");
      expect(await openai.conversations.retrieve(conversation)).toMatchObject({ metadata: { a: "b" } });
      expect(await openai.responses.retrieve(endless)).toMatchObject({
        status: "failed",
        error: { message: expect.stringContaining("stop") },
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("a server that stores nothing", () => {
  it.each([
    ["store", { store: true }],
    ["background", { background: true }],
    ["previous_response_id", { previous_response_id: "resp_1" }],
    ["conversation", { conversation: "conv_1" }],
  ])("refuses %s and says why", (param, body) =>
    withClient(
      async (openai) => {
        await expect(openai.responses.create({ ...request, ...body })).rejects.toMatchObject({
          status: 400,
          param,
          message: expect.stringContaining("--response-store none"),
        });
      },
      { flags: { responseStore: "none" } },
    ),
  );

  it("serves responses, and finds none later", () =>
    withClient(
      async (openai) => {
        const response = await openai.responses.create(request);
        expect(response).toMatchObject({ store: false });
        const { id } = response;
        await expect(openai.responses.retrieve(id)).rejects.toMatchObject({
          status: 404,
          message: expect.stringContaining("--response-store none"),
        });
      },
      { flags: { responseStore: "none" } },
    ));
});

describe("a response in the background", () => {
  const background = { ...request, background: true };

  it("is queued at once, and completed later", () =>
    withClient(async (openai) => {
      const queued = await openai.responses.create(background);
      expect(queued).toMatchObject({ status: "queued", background: true, store: true, output: [] });
      await expect.poll(async () => (await openai.responses.retrieve(queued.id)).status).toBe("completed");
      const { output_text: text, usage } = await openai.responses.retrieve(queued.id);
      expect([text, usage?.output_tokens]).toEqual(["Sunny.", 3]);
      const next = { ...background, previous_response_id: queued.id };
      expect((await openai.responses.create(next)).previous_response_id).toBe(queued.id);
    }));

  it("goes on when its client leaves the stream, which another one resumes where it was", () =>
    withClient(async (openai) => {
      const types: string[] = [];
      const numbers: number[] = [];
      let id = "";
      for await (const event of await openai.responses.create({ ...background, stream: true })) {
        types.push(event.type);
        numbers.push(event.sequence_number);
        if (event.type === "response.created") ({ id } = event.response);
        if (event.type === "response.output_text.delta") break;
      }
      expect(types.slice(0, 3)).toEqual(["response.created", "response.queued", "response.in_progress"]);
      const rest = { stream: true, starting_after: numbers.at(-1) ?? 0 } as const;
      for await (const event of await openai.responses.retrieve(id, rest)) {
        types.push(event.type);
        numbers.push(event.sequence_number);
      }
      expect(numbers).toEqual(numbers.map((_, index) => index));
      expect(types.filter((type) => type === "response.output_text.delta")).toHaveLength(3);
      expect(types.at(-1)).toBe("response.completed");
      // Also when it has ended, and from the beginning.
      const again = await collect(await openai.responses.retrieve(id, { stream: true }));
      expect(again.map(({ type }) => type)).toEqual(types);
    }));

  it("is cancelled, and stays what it was then", () =>
    withClient(
      async (openai, { log }) => {
        const { id } = await openai.responses.create(background);
        await expect.poll(async () => (await openai.responses.retrieve(id)).status).toBe("in_progress");
        const cancelled = await openai.responses.cancel(id);
        expect(cancelled).toMatchObject({ status: "cancelled", error: null });
        expect(log.cancelled).toEqual([1]);
        expect(log.running.size).toBe(0);
        expect(await openai.responses.cancel(id)).toEqual(cancelled);
        expect((await openai.responses.retrieve(id)).status).toBe("cancelled");
        await expect(collect(await openai.responses.retrieve(id, { stream: true }))).rejects.toMatchObject({
          code: "cancelled",
        });
      },
      { script: slow },
    ));

  it("is cancelled when it is deleted", () =>
    withClient(
      async (openai, { log }) => {
        const { id } = await openai.responses.create(background);
        await openai.responses.delete(id);
        expect(log.running.size).toBe(0);
        await expect(openai.responses.retrieve(id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
      },
      { script: slow },
    ));

  it("has failed if its generation has", () =>
    withClient(
      async (openai) => {
        const { id } = await openai.responses.create(background);
        await expect.poll(async () => (await openai.responses.retrieve(id)).status).toBe("failed");
        const { error } = await openai.responses.retrieve(id);
        expect(error).toEqual({ code: "server_error", message: "The device is gone." });
      },
      { script: { pieces, failure: { code: "engine_failed", message: "The device is gone." } } },
    ));

  it("is refused at once where its model is not served or has no place", () =>
    withClient(
      async (openai) => {
        await expect(openai.responses.create({ ...background, model: "other" })).rejects.toMatchObject({
          status: 404,
        });
        for (let taken = 0; taken < 2; taken += 1) await openai.responses.create(background);
        await expect(openai.responses.create(background)).rejects.toMatchObject({ status: 429 });
      },
      { script: { ...slow, parallel: 1 }, flags: { waitingMax: 1 } },
    ));

  it("holds no connection, and is cancelled when the server stops", async () => {
    const scripted = await scriptedServer({ script: slow });
    const openai = makeClient(scripted);
    await openai.responses.create(background);
    await expect.poll(() => scripted.log.running.size).toBe(1);
    const begin = performance.now();
    await scripted.server.close({ deadlineMs: 60_000 });
    expect(performance.now() - begin).toBeLessThan(5_000);
    expect(scripted.log.cancelled).toEqual([1]);
  });
});
