// The bundle starts processes and threads of its own by their files: each of them must be there, and run.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { makeMlxFolder, tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, expect, it } from "vitest";

const program = fileURLToPath(new URL("../bin/ingle.js", import.meta.url));
const commandMaxMs = 60_000;
let home: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "ingle-bundle-"));
  env = { ...process.env, HOME: home, INGLE_HOME: home, INGLE_OFFLINE: "1" };
});
afterAll(async () => {
  await rm(home, { recursive: true });
});

async function ingle(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], {
    env,
    timeout: commandMaxMs,
  });
  return stdout;
}

/** Starts a command that runs until it is stopped, and calls `use` with the match once it has printed that. Ctrl-C must end it. */
async function whileRunning(
  args: readonly string[],
  pattern: RegExp,
  use: (match: RegExpExecArray) => Promise<void>,
): Promise<void> {
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ["ignore", "pipe", "inherit"] });
  const timer = setTimeout(() => child.kill("SIGKILL"), commandMaxMs);
  const ended = once(child, "exit");
  try {
    let printed = "";
    let match: RegExpExecArray | null = null;
    for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
      match = pattern.exec((printed += String(chunk)));
      if (match !== null) break;
    }
    if (match === null) throw new Error(`It printed only: ${printed}`);
    await use(match);
    child.kill("SIGINT");
    expect(await ended).toEqual([0, null]);
  } finally {
    clearTimeout(timer);
    child.kill("SIGKILL");
  }
}

it(
  "serves with an engine in a process of its own, reads a large body in a thread, and has the page",
  { timeout: 2 * commandMaxMs },
  async () => {
    const model = await tinyModel();
    const flags = ["--model", model, "--threads", "1", "--ctx", "512", "--port", "0"];
    await whileRunning(["serve", ...flags], /(http:\/\/127\.0\.0\.1:\d+)[^]*Ctrl-C/, async ([, url = ""]) => {
      const post = (body: object): Promise<Response> =>
        fetch(`${url}/v1/chat/completions`, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify({ model, ...body }),
        });
      const message = { role: "user", content: "Hi" };
      const reply = await post({ messages: [message], max_tokens: 4 });
      expect(await reply.json()).toMatchObject({ choices: [{ message: { role: "assistant" } }] });
      const long = await post({ messages: [{ ...message, content: "word ".repeat(100_000) }] });
      expect(await long.json()).toMatchObject({ error: { code: "context_length_exceeded" } });
      expect(await (await fetch(url)).text()).toContain("<html");
    });
  },
);

it("quantizes in a process of its own", { timeout: commandMaxMs }, async () => {
  const model = path.join(home, "tiny-F16.gguf");
  await copyFile(await tinyModel(), model);
  const output = path.join(home, "tiny-Q8_0.gguf");
  await ingle("quantize", model, output, "--to", "Q8_0", "--allow-requantize");
  const reply = await ingle("run", "--model", output, "--max-tokens", "4", "--threads", "1", "Hi");
  expect(reply.trim()).not.toBe("");
});

it("keeps settings in a file with comments", { timeout: commandMaxMs }, async () => {
  await ingle("config", "set", "tiny", "kv_bits", "8");
  expect(await ingle("config", "show", "tiny", "kv_bits")).toBe("8\n");
});

it("converts from MLX's format in a thread", { timeout: commandMaxMs }, async () => {
  const folder = path.join(home, "tiny-mlx");
  await makeMlxFolder(folder, path.join(home, "reference.gguf"));
  expect(await ingle("import", folder)).toContain("tiny-mlx");
});

it("lends its devices from a process of its own", { timeout: 2 * commandMaxMs }, async () => {
  const address = ["--host", "127.0.0.1", "--port", "0"];
  const lent = ["--device", "cpu", "--memory", "100"];
  // The process that computes lists the devices.
  await whileRunning(
    ["worker", "--pair", ...address, ...lent],
    / {2}CPU +.+, (\d+) MiB\n[^]*Ctrl-C/,
    async ([, size]) => expect(size).toBe("100"),
  );
});
