import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Script } from "@ingle/fixtures/scripted-addon";
import { scriptedTemplate } from "@ingle/fixtures/scripted-addon";
import { describe, expect, it } from "vitest";
import { scriptedEngine, testWorld } from "../../../test/cli-context.ts";
import { scriptedKnown } from "../../../test/harness/scripted-models.ts";
import { scriptedServer, testConfig } from "../../../test/harness/scripted-server.ts";
import { programDesk, type ProgramDesk } from "../../../test/launched-program.ts";
import { ModelRegistry } from "../../models/registry.ts";
import { serve } from "../../serve.ts";
import { main } from "../main.ts";
import { announceServer } from "../remote/running-servers.ts";

/** Windows would need another script. */
const isPosix = process.platform !== "win32";
const long: Script = { contextLength: 65_536 };
const key = "a-key-of-the-tests-1234";

async function ingle(
  desk: ProgramDesk,
  args: readonly string[],
  options: { env?: object; script?: Script } = {},
) {
  const world = testWorld({
    engine: scriptedEngine(options.script ?? long),
    env: {
      HOME: desk.home,
      INGLE_HOME: path.join(desk.home, "..", "ingle"),
      PATH: desk.bin + path.delimiter + path.dirname(process.execPath),
      REPORT: desk.reportFile,
      ...options.env,
    },
  });
  const exit = await main("ingle", args, world.context);
  return { exit, out: world.out(), err: world.err() };
}

const temporaryFolders = async (): Promise<string[]> =>
  (await readdir(tmpdir())).filter((name) => name.startsWith("ingle-launch-"));

describe.runIf(isPosix)("ingle launch", () => {
  it("starts the program for the server that it is told, and leaves with its exit code and nothing else", async () => {
    await using desk = await programDesk("qwen");
    await using house = await scriptedServer({ script: long, flags: { apiKey: [key] } });
    const { url } = house.server;
    const before = await temporaryFolders();
    const args = ["launch", "qwen", "--url", `${url}/`, "--api-key", key, "--", "-p", "Say hi."];
    const { exit, out, err } = await ingle(desk, args, { env: { PROGRAM: "exit 7", KEPT: "yes" } });
    expect({ exit, out, err }).toEqual({
      exit: 7,
      out: "",
      err: `Qwen Code uses scripted-model at ${url}.\n`,
    });
    const report = await desk.report();
    expect(report.args).toEqual(["--auth-type", "openai", "--model", "scripted-model", "-p", "Say hi."]);
    expect(report.env).toMatchObject({
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_API_KEY: key,
      OPENAI_MODEL: "scripted-model",
      KEPT: "yes",
    });
    const file = report.env["QWEN_CODE_SYSTEM_DEFAULTS_PATH"] ?? "";
    expect(JSON.parse(report.files[file] ?? "")).toEqual({
      model: { generationConfig: { contextWindowSize: 65_536 } },
    });
    expect(await temporaryFolders()).toEqual(before);
    expect(await readdir(desk.home)).toEqual([]);
  });

  it("hides variables that would lead the program elsewhere", async () => {
    await using desk = await programDesk("claude");
    await using house = await scriptedServer({ script: long });
    const env = { ANTHROPIC_API_KEY: "of-anthropic", INGLE_URL: house.server.url };
    expect((await ingle(desk, ["launch", "claude"], { env })).exit).toBe(0);
    const report = await desk.report();
    expect(report.env["ANTHROPIC_API_KEY"]).toBeUndefined();
    expect(report.env["ANTHROPIC_BASE_URL"]).toBe(house.server.url);
  });

  it("finds the server of this user that has the model, and gives the program no management token", async () => {
    await using desk = await programDesk("cn");
    await using house = await scriptedServer({ script: long });
    const { url, managementToken: token } = house.server;
    await mkdir(path.join(desk.home, "..", "ingle"));
    const paths = scriptedEngine().libraryPaths({ INGLE_HOME: path.join(desk.home, "..", "ingle") });
    await using _announced = await announceServer(paths, { url, id: "scripted-model", token });
    expect((await ingle(desk, ["launch", "cn", "--model", "scripted-model"])).exit).toBe(0);
    const { files } = await desk.report();
    expect(Object.values(files).join("\n")).toContain(`"apiBase": "${url}/v1"`);
    expect(JSON.stringify(await desk.report())).not.toContain(token);
  });

  it("loads the model there with the context that is asked for", async () => {
    await using desk = await programDesk("codex");
    const known = scriptedKnown("small", { aliases: ["daily"], script: long });
    const registry = new ModelRegistry({ waitingMax: 9, onLoading: "wait" });
    registry.add(known);
    await using server = await serve(testConfig(), { logger: false, registry });
    const { url, managementToken: token } = server;
    await mkdir(path.join(desk.home, "..", "ingle"));
    const paths = scriptedEngine().libraryPaths({ INGLE_HOME: path.join(desk.home, "..", "ingle") });
    await using _announced = await announceServer(paths, { url, id: "small", token });
    const { exit, out, err } = await ingle(desk, ["launch", "codex", "--ctx", "40000"]);
    expect({ exit, out }).toEqual({ exit: 0, out: "" });
    expect(err).toContain("small is loaded");
    expect(known.asked).toEqual([{ contextLength: 40_000 }]);
    expect((await desk.report()).args).toContain("model_context_window=40000");
  });

  it("starts a server for the program if none runs, with a key of its own, and ends it", async () => {
    await using desk = await programDesk("claude");
    const env = { INGLE_HOST: "0.0.0.0", INGLE_PORT: "1", INGLE_ADMIN_KEYS: "an-admin-key-of-the-user" };
    const { exit, err } = await ingle(desk, ["launch", "claude", "--ctx", "40000"], {
      env,
      script: { contextLength: 40_000 },
    });
    expect([exit, err]).toEqual([0, expect.stringContaining("Claude Code uses tinyllama-1.1b-chat at")]);
    const { env: given } = await desk.report();
    const url = given["ANTHROPIC_BASE_URL"] ?? "";
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(given["ANTHROPIC_AUTH_TOKEN"]).toMatch(/^[\w-]{32}$/);
    expect(given["CLAUDE_CODE_MAX_CONTEXT_TOKENS"]).toBe("40000");
    await expect(fetch(url)).rejects.toThrow();
  });

  it("refuses a model whose context is too short, and starts anyway if told to", async () => {
    await using desk = await programDesk("claude");
    await using house = await scriptedServer({ script: { contextLength: 4096 } });
    const args = ["launch", "claude", "--url", house.server.url];
    const refused = await ingle(desk, args);
    expect(refused.exit).toBe(1);
    expect(refused.err).toBe(
      "ingle: Claude Code needs a context of at least 32,768 tokens, and scripted-model has 4,096. Load it with more: " +
        "`ingle unload scripted-model`, then `ingle load scripted-model --ctx 32768`.\n" +
        "--anyway starts Claude Code nevertheless.\n",
    );
    await expect(readFile(desk.reportFile)).rejects.toThrow("ENOENT");
    const started = await ingle(desk, [...args, "--anyway"]);
    expect([started.exit, started.err]).toEqual([0, expect.stringContaining("needs a context of at least")]);
  });

  it("refuses a model that cannot call tools, unless the program needs none", async () => {
    const withoutTools = {
      chatTemplate: { ...scriptedTemplate, source: "{{ messages }}", writesTools: false },
    };
    await using house = await scriptedServer({ script: { ...long, info: withoutTools } });
    await using desk = await programDesk("codex");
    const refused = await ingle(desk, ["launch", "codex", "--url", house.server.url]);
    expect([refused.exit, refused.err]).toEqual([1, expect.stringContaining("works by calling tools")]);
    await using other = await programDesk("aider");
    expect((await ingle(other, ["launch", "aider", "--url", house.server.url])).exit).toBe(0);
  });

  it("gives a program its usual arguments only if the user gives none", async () => {
    await using desk = await programDesk("goose");
    await using house = await scriptedServer({ script: long });
    await ingle(desk, ["launch", "goose", "--url", house.server.url]);
    expect((await desk.report()).args).toEqual(["session"]);
    await ingle(desk, ["launch", "goose", "--url", house.server.url, "--", "run", "-t", "Hi"]);
    expect((await desk.report()).args).toEqual(["run", "-t", "Hi"]);
  });

  it.each([
    ["a key that it refuses", ["--api-key", "another-key-of-the-tests"], "refuses this key"],
    ["no key", [], "requires a key"],
  ])("says what to do if the server gets %s", async (_what, flags, words) => {
    await using desk = await programDesk("codex");
    await using house = await scriptedServer({ script: long, flags: { apiKey: [key] } });
    const { exit, err } = await ingle(desk, ["launch", "codex", "--url", house.server.url, ...flags]);
    expect([exit, err]).toEqual([1, expect.stringContaining(words)]);
  });

  it("says if nothing responds, or if the model is unknown there", async () => {
    await using desk = await programDesk("codex");
    const gone = await ingle(desk, ["launch", "codex", "--url", "http://127.0.0.1:9"]);
    expect([gone.exit, gone.err]).toEqual([
      1,
      expect.stringContaining("No server responds at http://127.0.0.1:9"),
    ]);
    await using house = await scriptedServer({ script: long });
    const { exit, err } = await ingle(desk, [
      "launch",
      "codex",
      "--url",
      house.server.url,
      "--model",
      "other",
    ]);
    expect([exit, err]).toEqual([1, expect.stringContaining("does not know the model other")]);
  });

  it("says how to install a program that is not there, before anything is loaded", async () => {
    await using desk = await programDesk("other");
    const { exit, err } = await ingle(desk, ["launch", "opencode"]);
    expect([exit, err]).toEqual([
      1,
      "ingle: OpenCode is not installed: there is no opencode in PATH. Install it: npm install -g opencode-ai\n",
    ]);
  });
});

describe.runIf(isPosix)("without starting a program, ingle launch", () => {
  it("lists the programs, and which are installed", async () => {
    await using desk = await programDesk("codex");
    const { exit, out } = await ingle(desk, ["launch"]);
    expect(exit).toBe(0);
    expect(out).toMatch(/^codex +Codex +yes +ingle launch codex$/m);
    expect(out).toMatch(/^crush +Crush +no +install it: npm install -g @charmland\/crush$/m);
    expect(out).toMatch(/^zed +Zed +no +by hand: ingle launch zed prints the steps$/m);
  });

  it("prints the details of one with --help", async () => {
    await using desk = await programDesk("codex");
    const { exit, out } = await ingle(desk, ["launch", "goose", "--help"]);
    expect(exit).toBe(0);
    expect(out).toContain("Usage: ingle launch [options] [program] [arguments...]");
    expect(out).toMatch(/^ {2}variables +GOOSE_PROVIDER, GOOSE_MODEL, GOOSE_CONTEXT_LIMIT/m);
    expect((await ingle(desk, ["help", "launch"])).out).toContain("--anyway");
  });

  it.each([
    ["codx", "Did you mean codex?"],
    ["claud", "Did you mean claude?"],
    ["code-x", "Did you mean codex?"],
    ["something-else", "`ingle launch` lists the programs."],
  ])("names the nearest program for %s", async (name, words) => {
    await using desk = await programDesk("codex");
    const { exit, err } = await ingle(desk, ["launch", name]);
    expect([exit, err]).toEqual([2, expect.stringContaining(words)]);
  });

  it("prints the steps for a program that is set up by hand", async () => {
    await using desk = await programDesk("codex");
    await using house = await scriptedServer({ script: long });
    const { exit, out } = await ingle(desk, ["launch", "zed", "--url", house.server.url]);
    expect(exit).toBe(0);
    expect(out).toContain(`"api_url": "${house.server.url}/v1"`);
    expect(out).toContain('"max_tokens": 65536');
    const without = await ingle(desk, ["launch", "vscode", "--model", "mine"]);
    expect(without.out).toContain("start one with `ingle serve --model mine`");
  });

  it("saves settings into the program's own configuration, and keeps a copy of it", async () => {
    await using desk = await programDesk("opencode");
    await using house = await scriptedServer({ script: long });
    const folder = path.join(desk.home, ".config/opencode");
    await mkdir(folder, { recursive: true });
    const file = path.join(folder, "opencode.json");
    await writeFile(file, JSON.stringify({ theme: "dark", provider: { mine: { name: "Mine" } } }));
    const { exit, out } = await ingle(desk, ["launch", "opencode", "--save", "--url", house.server.url]);
    expect(exit).toBe(0);
    expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({
      theme: "dark",
      model: "ingle/scripted-model",
      provider: { mine: { name: "Mine" }, ingle: { options: { baseURL: `${house.server.url}/v1` } } },
    });
    const backup = (await readdir(folder)).find((name) => name.endsWith(".backup")) ?? "";
    expect(out).toBe(`Saved in ${file}.\nWhat was there before is in ${path.join(folder, backup)}.\n`);
    await expect(readFile(desk.reportFile)).rejects.toThrow("ENOENT");
  });

  it("saves nothing without a server that goes on running, or where it cannot", async () => {
    await using desk = await programDesk("opencode");
    const unserved = await ingle(desk, ["launch", "opencode", "--save"]);
    expect([unserved.exit, unserved.err]).toEqual([
      1,
      expect.stringContaining("start one with `ingle serve`"),
    ]);
    const impossible = await ingle(desk, ["launch", "codex", "--save"]);
    expect([impossible.exit, impossible.err]).toEqual([
      1,
      expect.stringContaining("cannot write the configuration"),
    ]);
    const byHand = await ingle(desk, ["launch", "n8n", "--save"]);
    expect([byHand.exit, byHand.err]).toEqual([1, expect.stringContaining("set up by hand")]);
    expect(await readdir(desk.home)).toEqual([]);
  });
});
