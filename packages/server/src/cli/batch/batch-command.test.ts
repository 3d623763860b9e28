import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { scriptedEngine, testWorld } from "../../../test/cli-context.ts";
import { scriptedId, scriptedServer } from "../../../test/harness/scripted-server.ts";
import type { Engine } from "../context.ts";
import { main } from "../main.ts";

let folder: string;
let input: string;
let output: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-batch-"));
  [input, output] = [path.join(folder, "in.jsonl"), path.join(folder, "out.jsonl")];
});
afterEach(() => rm(folder, { recursive: true }));

const chatLine = (custom_id: string, more: object = {}): object => ({
  custom_id,
  method: "POST",
  url: "/v1/chat/completions",
  body: { model: "gpt-4o", messages: [{ role: "user", content: `Hi ${custom_id}` }], ...more },
});
const chatLines = (count: number): object[] =>
  Array.from({ length: count }, (_, index) => chatLine(`line-${index}`));

const toText = (lines: readonly (object | string)[]): string =>
  lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");

interface Result {
  id: string;
  custom_id: string | null;
  response: { status_code: number; request_id: string; body: object } | null;
  error: { code: string; line: number } | null;
}

const parse = (text: string): Result[] =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line): Result => JSON.parse(line));
const results = async (): Promise<Result[]> => parse(await readFile(output, "utf8"));
const byText = (one: string | null, other: string | null): number => (one ?? "").localeCompare(other ?? "");
const sortedIds = (all: readonly Result[]): (string | null)[] =>
  all.map(({ custom_id }) => custom_id).toSorted(byText);

/** The scripted engine, and how many replies its models have begun. */
function countingEngine(script: Parameters<typeof scriptedEngine>[0]): {
  engine: Engine;
  begun: () => number;
} {
  let begun = 0;
  const engine = scriptedEngine({
    ...script,
    pieces: () => {
      begun += 1;
      return ["a"];
    },
  });
  return { engine, begun: () => begun };
}

describe("ingle batch with a model of its own", () => {
  it("writes the result of each line, computed by the chosen model whatever the lines name", async () => {
    await writeFile(input, toText(chatLines(30)));
    const { context, err } = testWorld({ engine: scriptedEngine({ pieces: ["Yes"] }) });
    expect(await main("ingle", ["batch", input, output], context)).toBe(0);
    const all = await results();
    expect(sortedIds(all)).toEqual(sortedIds(chatLines(30) as Result[]));
    for (const { id, response, error } of all) {
      expect(id).toMatch(/^batch_req_/);
      expect(response).toMatchObject({ status_code: 200, body: { object: "chat.completion" } });
      expect(error).toBeNull();
    }
    expect(err()).toContain(`30 results are in ${output}.\n`);
  });

  it("writes the errors of lines, ends with 1, and repeats nothing", async () => {
    const wrong = [
      chatLine("warm", { temperature: -1 }),
      chatLine("right"),
      chatLine("right"),
      { ...chatLine("x"), custom_id: undefined },
      "not json",
    ];
    await writeFile(input, toText(wrong));
    const { engine, begun } = countingEngine({});
    for (const _ of ["once", "again"]) {
      const { context, err } = testWorld({ engine });
      expect(await main("ingle", ["batch", input, output], context)).toBe(1);
      expect(err()).toContain(`5 results are in ${output}, 4 of them failed.\n`);
      const all = (await results()).map(({ custom_id, response, error }) =>
        [custom_id, response?.status_code, error?.code, error?.line].join(" "),
      );
      expect(new Set(all)).toEqual(
        new Set([
          "warm 400  ",
          "right 200  ",
          "right  invalid_request 3",
          "  invalid_request 4",
          "  invalid_json 5",
        ]),
      );
      expect(all).toHaveLength(5);
    }
    expect(begun()).toBe(1);
  });

  it("keeps its results at Ctrl-C, and the same command goes on with the rest", async () => {
    await writeFile(input, toText(chatLines(40)));
    const { engine, begun } = countingEngine({ delayMs: 15, parallel: 1 });
    const stopped = testWorld({ engine });
    const running = main("ingle", ["batch", input, output], stopped.context);
    await expect
      .poll(async () => (await readFile(output, "utf8").catch(() => "")).split("\n").length)
      .toBeGreaterThan(4);
    stopped.signals.emit("SIGINT");
    expect(await running).toBe(130);
    const before = (await results()).length;
    expect(stopped.err()).toContain(
      `${before} results are in ${output}. Run the same command again to go on.`,
    );
    expect(before).toBeLessThan(30);

    const startedBefore = begun();
    await writeFile(output, '{"id":"batch_req_cut', { flag: "a" }); // as if it had been killed while it wrote
    const { context } = testWorld({ engine });
    expect(await main("ingle", ["batch", input, output], context)).toBe(0);
    expect(sortedIds(await results())).toEqual(sortedIds(chatLines(40) as Result[]));
    expect(begun() - startedBefore).toBe(40 - before);
  });

  it("reads stdin and writes stdout", async () => {
    const { context, stdin, out } = testWorld({ engine: scriptedEngine({ pieces: ["Yes"] }) });
    stdin.end(toText(chatLines(3)));
    expect(await main("ingle", ["batch", "-", "-"], context)).toBe(0);
    expect(sortedIds(parse(out()))).toEqual(["line-0", "line-1", "line-2"]);
  });

  it("loads nothing if everything is done, or the files are wrong", async () => {
    const load = () => Promise.reject(new Error("was loaded"));
    const run = async (...args: string[]): Promise<[code: number, err: string]> => {
      const { context, err } = testWorld({ engine: scriptedEngine({}, { load }) });
      return [await main("ingle", ["batch", ...args], context), err()];
    };
    expect(await run(input, output)).toEqual([2, expect.stringContaining(`There is no file ${input}.`)]);
    await writeFile(input, toText(chatLines(1)));
    expect(await run(input, input)).toEqual([2, expect.stringContaining("no results of a batch")]);
    expect(await readFile(input, "utf8")).toBe(toText(chatLines(1)));
    const done = { id: "batch_req_1", custom_id: "line-0", error: null };
    await writeFile(output, toText([{ ...done, response: { status_code: 200, request_id: "r", body: {} } }]));
    expect(await run(input, output)).toEqual([0, expect.stringContaining("1 results are in")]);
  });
});

describe("ingle batch at a running server", () => {
  it("sends the lines behind all other requests, to the model of --model", async () => {
    await using scripted = await scriptedServer({ script: { pieces: ["a"] }, flags: { apiKey: ["right"] } });
    await writeFile(input, toText(chatLines(5)));
    const { url } = scripted.server;
    const run = async (...flags: string[]): Promise<[code: number, err: string]> => {
      const load = () => Promise.reject(new Error("was loaded"));
      const { context, err } = testWorld({ engine: scriptedEngine({}, { load }) });
      return [await main("ingle", ["batch", input, output, "--url", url, ...flags], context), err()];
    };
    expect(await run()).toEqual([1, expect.stringContaining("requires a key")]);
    expect(await run("--api-key", "wrong")).toEqual([1, expect.stringContaining("refuses this key")]);
    expect((await run("--api-key", "right", "--model", scriptedId))[0]).toBe(0);
    expect(await results()).toHaveLength(5);
    expect(scripted.log.requests.map(({ priority }) => priority)).toEqual([-2, -2, -2, -2, -2]);
  });

  it("says that the server is gone, and that the command can go on", async () => {
    const scripted = await scriptedServer({ script: { pieces: ["a"], delayMs: 20, parallel: 1 } });
    await writeFile(input, toText(chatLines(200)));
    const { context, err } = testWorld({ engine: scriptedEngine() });
    const args = ["batch", input, output, "--url", scripted.server.url, "--model", scriptedId];
    const running = main("ingle", args, context);
    await expect
      .poll(async () => (await readFile(output, "utf8").catch(() => "")).length)
      .toBeGreaterThan(100);
    await scripted[Symbol.asyncDispose]();
    expect(await running).toBe(1);
    expect(err()).toMatch(/does not respond any more/);
    expect(err()).toContain("Run the same command again to go on.");
    for (const { response } of await results()) expect(response?.status_code).toBe(200);
  });
});
