// pull, search, list, remove, import and prune, over a hub on this machine.
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fakeGguf } from "@ingle/fixtures/fake-gguf";
import { FakeHub } from "@ingle/fixtures/fake-hub";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { testWorld, type TestWorld } from "../../../test/cli-context.ts";
import type { Engine } from "../context.ts";
import { main } from "../main.ts";

const gguf = fakeGguf({ dataBytes: 300_000 });
let user: string;
let hub: FakeHub;

beforeEach(async () => {
  user = await mkdtemp(path.join(tmpdir(), "ingle-commands-"));
  hub = await FakeHub.start(
    {
      repo: "acme/tiny-GGUF",
      files: { "tiny-Q4_K_M.gguf": gguf, "tiny-Q8_0.gguf": fakeGguf({ dataBytes: 400_000 }) },
    },
    { repo: "acme/gated-GGUF", files: { "gated-Q4_K_M.gguf": gguf }, isGated: true },
  );
});

afterEach(async () => {
  await hub[Symbol.asyncDispose]();
  await rm(user, { recursive: true });
});

function world(options: { isTTY?: boolean } = {}): TestWorld {
  return testWorld({
    ...options,
    env: { HOME: user, INGLE_HOME: path.join(user, "ingle"), HF_ENDPOINT: hub.url },
  });
}

/** Runs a command to its end. */
async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const { context, out, err } = world();
  const code = await main("ingle", args, context);
  return { code, out: out(), err: err() };
}

const modelPath = (): string => path.join(user, "ingle/models/acme/tiny-GGUF/tiny-Q4_K_M.gguf");

describe("ingle pull", () => {
  it("prints what the model is and needs, downloads it, and prints only its path on stdout", async () => {
    const { code, out, err } = await run("pull", "acme/tiny-GGUF");
    expect({ code, out }).toEqual({ code: 0, out: `${modelPath()}\n` });
    expect(err).toMatch(/model +acme\/tiny-GGUF:Q4_K_M\n/);
    expect(err).toMatch(/architecture +lfm2\n/);
    expect(err).toMatch(/context +128,000 tokens\n/);
    expect(err).toMatch(/memory +about \d+ MiB\n/);
    expect(err).toMatch(
      /acme\/tiny-GGUF:Q4_K_M \(293 KiB\) is not downloaded yet; this is done once\.\nDownloading/,
    );
    expect(await readFile(modelPath())).toEqual(gguf);
    const digest = createHash("sha256").update(gguf).digest("hex");
    expect(err).toMatch(new RegExp(`\nSHA-256 ${digest}\n$`));
    const again = await run("pull", "acme/tiny-GGUF");
    expect(again).toEqual({
      code: 0,
      out: `${modelPath()}\n`,
      err: `acme/tiny-GGUF:Q4_K_M is already downloaded.\nSHA-256 ${digest}\n`,
    });
  });

  it("draws a bar on a terminal", async () => {
    const { context, err } = world({ isTTY: true });
    expect(await main("ingle", ["pull", "acme/tiny-GGUF"], context)).toBe(0);
    expect(err()).toContain("Downloading acme/tiny-GGUF:Q4_K_M [");
  });

  it("keeps a partial download at Ctrl-C, says so, and resumes it", async () => {
    hub.slowly = { bytes: 8192, delayMs: 5 };
    const stopped = world();
    const exit = main("ingle", ["pull", "acme/tiny-GGUF"], stopped.context);
    await stopped.errHas("Downloading");
    const before = hub.bytesSent; // the header's
    while (hub.bytesSent < before + 150_000) await new Promise((resolve) => setTimeout(resolve, 2));
    stopped.signals.emit("SIGINT");
    expect(await exit).toBe(130);
    expect(stopped.err()).toContain("The partial download is kept");
    hub.slowly = { bytes: 0, delayMs: 0 };
    hub.bytesSent = 0;
    expect((await run("pull", "acme/tiny-GGUF")).code).toBe(0);
    // The header is read before both downloads.
    expect(hub.bytesSent).toBeLessThan(before + 250_000);
    expect(await readFile(modelPath())).toEqual(gguf);
  });

  it("gives the model an alias", async () => {
    expect((await run("pull", "acme/tiny-GGUF", "--alias", "daily")).code).toBe(0);
    expect((await run("list")).out).toContain("acme/tiny-GGUF:Q4_K_M, daily");
    expect((await run("pull", "acme/tiny-GGUF", "--alias", "a/b")).code).toBe(2);
  });

  it("ends with 1 and a sentence for a gated model, an unknown one, and without network", async () => {
    const gated = await run("pull", "acme/gated-GGUF");
    expect(gated.code).toBe(1);
    expect(gated.err).toMatch(/^ingle: acme\/gated-GGUF requires accepting its terms/m);
    expect((await run("pull", "acme/none")).err).toContain("has no acme/none");
    expect((await run("pull", "acme/tiny-GGUF:Q5_0")).err).toContain("It has Q4_K_M, Q8_0");
    const offline = await run("pull", "acme/tiny-GGUF", "--offline");
    expect(offline.err).toContain("told to stay offline");
  });
});

describe("ingle search", () => {
  it("lists repositories, and how to list the models of one", async () => {
    const { code, out, err } = await run("search", "acme");
    expect(code).toBe(0);
    expect(out.split("\n")).toEqual([
      "REPOSITORY       DOWNLOADS  LIKES",
      "acme/tiny-GGUF   1,234      5",
      "acme/gated-GGUF  1,234      5      gated",
      "",
    ]);
    expect(err).toContain("ingle search acme/tiny-GGUF");
    expect((await run("search", "nothing", "like", "it")).code).toBe(1);
  });

  it("shows the models of one repository and what they need", async () => {
    const { code, out } = await run("search", "acme/tiny-GGUF");
    expect(code).toBe(0);
    expect(out).toContain("acme/tiny-GGUF: lfm2, 128,000 tokens of context, license apache-2.0\n");
    expect(out).toMatch(/acme\/tiny-GGUF:Q4_K_M {2}293 KiB +about \d+ MiB/);
    expect(out).toContain("acme/tiny-GGUF:Q8_0");
  });
});

describe("ingle list", () => {
  it("says what to do without models", async () => {
    expect(await run("list")).toMatchObject({ code: 0, out: "", err: expect.stringContaining("ingle pull") });
    expect((await run("list", "--json")).out).toBe("[]\n");
  });

  it("prints an array for programs, with these fields and no others", async () => {
    await run("pull", "acme/tiny-GGUF");
    expect(JSON.parse((await run("list", "--json")).out)).toEqual([
      {
        id: "acme/tiny-GGUF:Q4_K_M",
        path: modelPath(),
        format: "gguf",
        quantization: "Q4_K_M",
        size_bytes: gguf.length,
        loaded: false,
        aliases: [],
        adapters: [],
        last_used: null,
        context_length_train: 128_000,
        capabilities: [],
      },
    ]);
  });

  it("tells what models can do", async () => {
    const file = path.join(user, "vectors.gguf");
    await writeFile(file, fakeGguf({ poolingType: 1 }));
    await run("import", file);
    expect((await run("list")).out).toMatch(/^vectors .* embeddings +never +imported$/m);
    expect(JSON.parse((await run("list", "--json")).out)).toMatchObject([{ capabilities: ["embeddings"] }]);
  });

  it("also lists other programs' models", async () => {
    const folder = path.join(user, ".lmstudio/models/acme/other-GGUF");
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, "other-Q8_0.gguf"), gguf);
    expect((await run("list")).out).toMatch(/acme\/other-GGUF:Q8_0 +Q8_0 +293 KiB +never +LM Studio\n/);
  });
});

describe("ingle alias", () => {
  it("gives a model a name, moves it to another one, and removes it", async () => {
    await run("pull", "acme/tiny-GGUF:Q4_K_M");
    await run("pull", "acme/tiny-GGUF:Q8_0");
    const named = await run("alias", "daily", "acme/tiny-GGUF:Q4_K_M");
    expect(named).toEqual({ code: 0, out: "acme/tiny-GGUF:Q4_K_M is now called daily.\n", err: "" });
    expect((await run("alias", "daily", "acme/tiny-GGUF:Q8_0")).code).toBe(0);
    const list = JSON.parse((await run("list", "--json")).out);
    expect(list).toMatchObject([{ aliases: [] }, { id: "acme/tiny-GGUF:Q8_0", aliases: ["daily"] }]);
    const removed = await run("alias", "--remove", "daily");
    expect(removed).toEqual({ code: 0, out: "acme/tiny-GGUF:Q8_0 is no longer called daily.\n", err: "" });
    expect((await run("list")).out).not.toContain("daily");
  });

  it("reports a missing argument, and an unknown model or name", async () => {
    expect((await run("alias", "daily")).err).toContain("ingle alias daily MODEL");
    expect((await run("alias", "--remove", "daily", "x")).err).toContain("ingle alias --remove NAME");
    expect(await run("alias", "--remove", "daily")).toMatchObject({
      code: 1,
      err: expect.stringContaining('No model has the alias "daily"'),
    });
    expect((await run("alias", "daily", "nobody")).err).toContain("Pull or import it first");
  });
});

describe("ingle import and remove", () => {
  it("add a file to the library and remove it, without touching it", async () => {
    const file = path.join(user, "mine-Q4_K_M.gguf");
    await writeFile(file, gguf);
    expect(await run("import", file, "--alias", "mine")).toMatchObject({
      code: 0,
      out: `mine-Q4_K_M  ${file} (293 KiB)\n`,
    });
    expect((await run("list")).out).toMatch(/mine-Q4_K_M, mine +Q4_K_M +293 KiB +never +imported\n/);
    expect(await run("remove", "mine")).toMatchObject({
      code: 0,
      out: "Removed mine-Q4_K_M from the library; its files stay where they are.\n",
    });
    expect(await readFile(file)).toEqual(gguf);
    expect((await run("remove", "mine")).code).toBe(1);
  });

  it("delete the files of a pulled model", async () => {
    await run("pull", "acme/tiny-GGUF");
    expect((await run("remove", "acme/tiny-GGUF:Q4_K_M")).out).toBe(
      "Removed acme/tiny-GGUF:Q4_K_M (293 KiB).\n",
    );
    await expect(readFile(modelPath())).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("refuse a damaged file", async () => {
    const file = path.join(user, "cut.gguf");
    await writeFile(file, gguf.subarray(0, -1));
    const { code, err } = await run("import", file);
    expect(code).toBe(1);
    expect(err).toMatch(/cut\.gguf is damaged\. The file ends before its tensor data: 1 bytes are missing\./);
  });
});

describe("ingle import of a model that is converted", () => {
  it("shows progress, and then how the tensors were stored", async () => {
    const { scriptedEngine } = await import("../../../test/cli-context.ts");
    const steps = [
      { from: "BF16", to: "BF16" as const, tensors: 2, bytes: 8, error: { inSteps: 0, largest: 0 } },
    ];
    const importModels: Engine["importModels"] = async (_from, options) => {
      options?.onProgress?.({ phase: "convert", bytes: 5, totalBytes: 10 });
      options?.onConverted?.({ steps, unused: [], bytes: 8 });
      return [];
    };
    const { context, err } = testWorld({ engine: scriptedEngine({}, { importModels }) });
    expect(await main("ingle", ["import", "./Tiny-4bit"], context)).toBe(0);
    expect(err()).toMatch(/^Converting \.\/Tiny-4bit …\n {2}BF16 → BF16 +2 tensors/);
  });
});

describe("ingle prune", () => {
  it("prints what would be removed, and then removes it", async () => {
    const part = path.join(user, "ingle/downloads/abc.part");
    await mkdir(path.dirname(part), { recursive: true });
    await writeFile(part, "x");
    expect((await run("prune", "--dry-run")).out).toContain(`Would remove ${part}, an unfinished download`);
    expect((await run("prune")).out).toContain(`Removed ${part}`);
    expect(await run("prune")).toMatchObject({ code: 0, out: "", err: "Nothing to remove.\n" });
    await run("pull", "acme/tiny-GGUF");
    expect((await run("prune", "--unused-for", "1")).out).toBe("");
  });
});

describe("ingle serve and run", () => {
  it("download a missing model from the hub, and list it as loaded while it is served", async () => {
    const { scriptedEngine } = await import("../../../test/cli-context.ts");
    const env = { HOME: user, INGLE_HOME: path.join(user, "ingle"), HF_ENDPOINT: hub.url };
    const { locateModel, fetchModel, recordUse } = await import("@ingle/engine");
    const engine = scriptedEngine({ pieces: ["Paris"] }, { locateModel, fetchModel, recordUse });
    const serving = testWorld({ engine, env });
    const exit = main("ingle", ["serve", "--port", "0", "--model", "acme/tiny-GGUF"], serving.context);
    await serving.outHas("Ctrl-C");
    expect(serving.out()).toContain("acme/tiny-GGUF:Q4_K_M");
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(serving.out())?.[0] ?? "";
    const body = { model: "acme/tiny-GGUF", messages: [{ role: "user", content: "Hi" }] };
    const reply = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(await reply.json()).toMatchObject({ choices: [{ message: { content: "Paris" } }] });
    expect(JSON.parse((await run("list", "--json")).out)).toMatchObject([
      { loaded: true, last_used: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) },
    ]);
    expect((await run("remove", "acme/tiny-GGUF:Q4_K_M")).err).toContain(`is loaded by the server at ${url}`);
    serving.signals.emit("SIGINT");
    expect(await exit).toBe(0);
    expect(JSON.parse((await run("list", "--json")).out)).toMatchObject([{ loaded: false }]);
    expect((await run("list")).out).toMatch(/293 KiB +\d{4}-\d\d-\d\d\n/);
    const answering = testWorld({ engine, env });
    expect(
      await main("ingle", ["run", "--offline", "--model", "acme/tiny-GGUF", "Hi"], answering.context),
    ).toBe(0);
    expect(answering.out()).toBe("Paris\n");
  });
});
