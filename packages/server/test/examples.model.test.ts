// The examples and the first programs of the README and the pages run as a person starts them, with a server with a tiny model and a local hub. The pages of
// the client and of the library must show only code from the examples.
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { importModels } from "@ingle/engine";
import { FakeHub } from "@ingle/fixtures/fake-hub";
import { codeBlocks, drawImage, encodePng, tinyAdapter, tinyModel, tinyVisionModel } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { main } from "../src/cli/main.ts";
import { testWorld, type TestWorld } from "./cli-context.ts";
import { realServer, type RealServer } from "./real-server.ts";

const root = path.join(import.meta.dirname, "../../..");
const folder = path.join(root, "examples");
const examples = readdirSync(folder).filter((file) => file.endsWith(".ts"));

describe("the examples", () => {
  let home: string;
  let hub: FakeHub;
  let world: TestWorld;
  let exit: Promise<number>;
  let url: string;
  let modelPath: string;
  let seeing: { home: string; images: string[] };
  beforeAll(async () => {
    modelPath = await tinyModel();
    home = await mkdtemp(path.join(tmpdir(), "ingle-examples-"));
    seeing = await homeWithSeeing(path.join(home, "seeing"));
    const files = { "LFM2-350M-Q4_K_M.gguf": await readFile(modelPath) };
    hub = await FakeHub.start({ repo: "LiquidAI/LFM2-350M-GGUF", files });
    world = testWorld({ env: { HOME: home, INGLE_HOME: home, HF_ENDPOINT: hub.url } });
    const flags = ["--port", "0", "--threads", "1", "--parallel", "2", "--ctx", "2048"];
    exit = main("ingle", ["serve", ...flags, "--model", modelPath], world.context);
    await world.outHas("Ctrl-C");
    url = /http:\/\/127\.0\.0\.1:\d+/.exec(world.out())?.[0] ?? "";
  });
  afterAll(async () => {
    world.signals.emit("SIGINT");
    await exit;
    await hub[Symbol.asyncDispose]();
    await rm(home, { recursive: true });
  });

  it.each(examples)("%s runs to its end and prints something", async (file) => {
    // Those without a server use a model by its path, or by the name under which it was installed with its projector.
    const isVision = file === "vision.ts";
    const parameters = isVision ? ["tiny-seeing", ...seeing.images] : [modelPath];
    if (file === "adapters.ts") parameters.push(await tinyAdapter({ model: {} }));
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--import", "tsx", path.join(folder, file), ...parameters],
      {
        cwd: root,
        env: {
          ...process.env,
          INGLE_URL: url,
          INGLE_GPU: "cpu",
          ...(isVision ? { INGLE_HOME: seeing.home, INGLE_OFFLINE: "1" } : {}),
        },
        timeout: 25_000,
      },
    );
    expect(stdout.trim()).not.toBe("");
    if (isVision) expect(stdout).toMatch(/What is this\?[^]*==========\n[^]+tokens\/s\n.+/);
  });
});

/** A models folder in which a tiny model that reads images is installed as `tiny-seeing`, and two images. */
async function homeWithSeeing(home: string): Promise<{ home: string; images: string[] }> {
  const from = path.join(home, "from");
  await mkdir(from, { recursive: true });
  const { model, projector } = await tinyVisionModel({ architecture: "lfm2" });
  await copyFile(model, path.join(from, "tiny-seeing.gguf"));
  await copyFile(projector, path.join(from, "mmproj-tiny-seeing.gguf"));
  await importModels(from, { env: { INGLE_HOME: home, HOME: home } });
  const images = ["disc", "checks"] as const;
  return {
    home,
    images: await Promise.all(
      images.map(async (motif) => {
        const file = path.join(home, `${motif}.png`);
        await writeFile(file, await encodePng(drawImage(motif, 96, 64)));
        return file;
      }),
    ),
  };
}

describe.skipIf(process.platform === "win32")("the README and the pages of client and library", () => {
  let server: RealServer;
  let home: string;
  let pages: string;
  beforeAll(async () => {
    // The default model is the tiny one here.
    home = await mkdtemp(path.join(tmpdir(), "ingle-readme-"));
    await importModels(await tinyModel(), { env: { INGLE_HOME: home, HOME: home } });
    server = await realServer({ load: { contextLength: 2048, parallel: 2 } });
    const names = ["README.md", "docs/client.md", "docs/library.md"];
    pages = (await Promise.all(names.map((name) => readFile(path.join(root, name), "utf8")))).join("\n");
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await rm(home, { recursive: true });
  });

  /** The only block that contains this, with the test server's address. */
  function block(language: string, text: string): string {
    const blocks = codeBlocks(pages).filter((each) => each.language === language && each.code.includes(text));
    expect(blocks).toHaveLength(1);
    return (blocks[0]?.code ?? "").replaceAll("http://127.0.0.1:1337", server.baseUrl.replace(/\/v1$/, ""));
  }

  async function run(command: string, ...args: string[]): Promise<string> {
    const env = { ...process.env, INGLE_HOME: home, HOME: home, INGLE_OFFLINE: "1", INGLE_GPU: "cpu" };
    const { stdout } = await promisify(execFile)(command, args, { cwd: root, env, timeout: 25_000 });
    return stdout.trim();
  }

  it("has a curl command that works, whatever the model is called", async () => {
    const response: unknown = JSON.parse(await run("/bin/sh", "-c", block("sh", "/v1/chat/completions")));
    expect(response).toMatchObject({ model: "tiny", choices: [{ message: { role: "assistant" } }] });
  });

  it.each(["ask-openai.mjs", "ask-client.mjs", "ask-in-process.mjs"])(
    "has a %s that prints a reply",
    async (name) => {
      const code = block("js", `// ${name};`);
      expect(await run(process.execPath, "--input-type=module", "--eval", code)).not.toBe("");
    },
  );
});

describe.each(["docs/client.md", "docs/library.md"])("%s", (name) => {
  it("contains only code from an example", async () => {
    const page = await readFile(path.join(root, name), "utf8");
    const blocks = codeBlocks(page).filter(({ language }) => language === "ts");
    const sources = await Promise.all(examples.map((file) => readFile(path.join(folder, file), "utf8")));
    expect(blocks.length).toBeGreaterThan(0);
    for (const { code } of blocks) {
      // Where the page omits lines, it has an empty line.
      for (const piece of code.trim().split(/\n\s*\n/)) {
        expect({ piece, stands: sources.some((source) => source.includes(piece)) }).toMatchObject({
          stands: true,
        });
      }
    }
  });
});
