// What --model means, and what is printed without it.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { EngineError, importModels, recordUse, type DefaultModel } from "@ingle/engine";
import { fakeGguf } from "@ingle/fixtures/fake-gguf";
import { FakeHub } from "@ingle/fixtures/fake-hub";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scriptedEngine, testWorld } from "../../../test/cli-context.ts";
import { chooseModel } from "./choose-model.ts";

let folder: string;
let mine: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-model-argument-"));
  mine = path.join(folder, "mine.gguf");
  await writeFile(mine, fakeGguf());
});
afterAll(() => rm(folder, { recursive: true }));

describe("--model", () => {
  it("is looked up in the library with the offline setting, and nothing is printed", async () => {
    const asked: unknown[] = [];
    const engine = scriptedEngine();
    const locateModel: typeof engine.locateModel = async (model, options) => {
      asked.push(model, options?.isOffline, options?.env);
      return engine.locateModel(model, options);
    };
    const { context, err } = testWorld({ engine: { ...engine, locateModel }, env: { HF_TOKEN: "x" } });
    const choice = await chooseModel({ model: mine, offline: true }, context);
    expect(choice).toEqual({ kind: "file", id: "mine", path: mine, isListed: false });
    expect(asked).toEqual([mine, true, { HF_TOKEN: "x" }]);
    expect(err()).toBe("");
  });
});

describe("without --model", () => {
  const located = { kind: "file", id: "it", path: "/models/it.gguf", isListed: true } as const;
  const repo = "LiquidAI/LFM2-1.2B-GGUF";
  const starterReason = (
    passedOver: Extract<DefaultModel, { reason: "starter" }>["starterReason"],
  ): DefaultModel => ({
    reason: "starter",
    lost: [],
    located,
    starterReason: passedOver,
  });

  async function words(chosen: DefaultModel): Promise<string> {
    const { context, err } = testWorld({ engine: scriptedEngine({}, { defaultModel: async () => chosen }) });
    expect(await chooseModel({ model: undefined, offline: false }, context)).toBe(located);
    return err();
  }

  it.each<[DefaultModel, string, string]>([
    [{ reason: "used-last", lost: [], located }, "the model you used last.", "`ingle list`"],
    [{ reason: "added-last", lost: [], located }, "the model you added last.", "`ingle list`"],
    [{ reason: "recommended", lost: [], located }, "that fits this machine.", "`ingle search`"],
    [
      starterReason({ why: "silent", repo, afterMs: 3000 }),
      "because the hub did not respond within 3 s.",
      `\`--model ${repo}\``,
    ],
    [
      starterReason({
        why: "unreachable",
        repo,
        error: new EngineError("download_failed", "No.", { details: { reason: "ENOTFOUND" } }),
      }),
      "because the hub cannot be reached (ENOTFOUND).",
      `\`--model ${repo}\``,
    ],
    [starterReason({ why: "offline", repo }), "because Ingle is offline.", `\`--model ${repo}\``],
    [
      starterReason({ why: "memory" }),
      "because this machine has too little memory",
      "Use --model to choose another one",
    ],
    [
      starterReason({ why: "refused", repo, error: new EngineError("download_failed", "It answers 403.") }),
      "because the hub refused to provide one (It answers 403.).",
      "Use --model to choose another one",
    ],
  ])(
    "prints in two lines which model was chosen, why, and how to choose another: $reason",
    async (...row) => {
      const [chosen, why, advice] = row;
      const line = await words(chosen);
      expect(line).toMatch(/^No --model given: using it, [^\n]{1,110}\n[^\n]{1,110}\n$/);
      expect(line).toContain(why);
      expect(line).toContain(advice);
    },
  );

  it("names the models that are missing", async () => {
    expect(await words({ reason: "used-last", lost: ["a"], located })).toMatch(
      /^a, which you used last, is missing or damaged\.\nNo --model given: using it, the model/,
    );
    expect(await words({ reason: "used-last", lost: ["a", "b"], located })).toMatch(
      /^a, b, which you used last, are missing or damaged\.\n/,
    );
  });

  it("asks the hub at the first start, and uses the model used last later on", async () => {
    const file = "LFM2-350M-Q4_K_M.gguf";
    await using hub = await FakeHub.start(
      ...["2.6B", "1.2B", "700M", "350M"].map((size) => ({
        repo: `LiquidAI/LFM2-${size}-GGUF`,
        files: { [file]: fakeGguf() },
      })),
    );
    const env = { HOME: folder, INGLE_HOME: path.join(folder, "ingle"), HF_ENDPOINT: hub.url };
    const choose = async (offline: boolean) => {
      const world = testWorld({ env });
      return { located: await chooseModel({ model: undefined, offline }, world.context), err: world.err() };
    };
    const first = await choose(false);
    expect(first.located).toMatchObject({
      kind: "hub",
      id: expect.stringMatching(/^LiquidAI\/LFM2-.*:Q4_K_M$/),
    });
    expect(first.err).toContain("a small model that fits this machine.");
    await importModels(mine, { env });
    await recordUse("mine", { env });
    const asked = hub.requests.length;
    expect((await choose(true)).located).toMatchObject({ kind: "file", id: "mine", path: mine });
    expect((await choose(false)).err).toContain("using mine, the model you used last.");
    expect(hub.requests.length).toBe(asked);
  });
});
