// Coding agents from npm with a real server: two turns, a cancelled one and one that does not fit, with three chat templates, one of
// which demands alternation. INGLE_ONE_AGENT takes those whose name it matches.
import { access, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { chatTemplate, modelId, realServer } from "../../real-server.ts";
import { askOverAcp } from "./acp.ts";
import { closedEnvironment } from "./closed-environment.ts";
import { forcedReplies, isFailure, longestPrompt, type Exchange } from "./forced-replies.ts";
import { endLeftBehind, runProgram } from "./program-run.ts";
import { agentPrograms } from "./programs.ts";

const context = 65_536;
/** Less than any agent's instructions and tools. */
const small = 512;
const turnMs = 240_000;
const installMs = 600_000;
const templates = [
  "mistralai-Ministral-3-14B-Reasoning-2512",
  "Qwen-Qwen2.5-7B-Instruct",
  "openai-gpt-oss-120b",
];
const programs = agentPrograms.filter(({ name }) =>
  new RegExp(process.env["INGLE_ONE_AGENT"] ?? "").test(name),
);

const root = await mkdtemp(path.join(tmpdir(), "ingle-agents-"));
afterAll(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));

const failed = (exchanges: readonly Exchange[]) => exchanges.filter(isFailure);

describe.each(programs)("$name ($package)", (program) => {
  const folder = path.join(root, program.bin);
  const bin = path.join(folder, "node_modules", ".bin", program.bin);

  it("is installed", async () => {
    await mkdir(folder, { recursive: true });
    const args = ["install", "--no-audit", "--no-fund", "--prefix", folder, program.package];
    await runProgram("npm", args, { cwd: folder, env: process.env, timeoutMs: installMs });
    await expect(access(bin)).resolves.toBeUndefined();
  });

  async function desk(template: string, contextLength: number) {
    const server = await realServer({
      fixture: { vocabulary: "qwen2", chatTemplate: await chatTemplate(template), contextLength },
      load: { contextLength, parallel: 2, threads: 2 },
      flags: { noAuth: true, ollamaApi: program.needsOllamaApi === true },
    });
    expect(modelId).toBe("tiny"); // the programs' settings name it
    const forced = await forcedReplies(server.baseUrl.slice(0, -"/v1".length), server.model.info.tokens.eos);
    const home = await mkdtemp(path.join(root, "home-"));
    const project = path.join(home, "project");
    await mkdir(project);
    await program.configure({ home, project, url: forced.url, context });
    const env = { ...closedEnvironment(home), ...program.env(forced.url, context) };
    let session: string | undefined;
    const ask = (turn: "first" | "next", prompt: string, signal?: AbortSignal) =>
      runProgram(
        bin,
        program[turn](prompt),
        { cwd: project, env, timeoutMs: turnMs, signal },
        program.speaksAcp === true
          ? async (child) => void (session = await askOverAcp(child, { cwd: project, prompt, session }))
          : undefined,
      );
    const close = async () => {
      await endLeftBehind(home);
      await forced[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    };
    return { server, forced, ask, [Symbol.asyncDispose]: close };
  }

  it.each(templates)("takes two turns, the second from the cache, with the template %s", async (template) => {
    await using at = await desk(template, context);
    const { exchanges, firstFailure } = at.forced; // some would try again and again
    await at.ask("first", "Say hi.", firstFailure);
    const first = exchanges.splice(0);
    expect(failed(first)).toEqual([]);
    await at.ask("next", "Once more.", firstFailure);
    const second = exchanges;
    expect(failed(second)).toEqual([]);
    const { prompt, cached } = longestPrompt(second);
    process.stderr.write(
      `${program.name}, ${template}: ${longestPrompt(first).prompt} tokens, then ${cached} of ${prompt} cached\n`,
    );
    expect(prompt).toBeGreaterThan(longestPrompt(first).prompt);
    expect(cached / prompt).toBeGreaterThanOrEqual(0.95);
  });

  it("is cancelled", async () => {
    await using at = await desk("Qwen-Qwen2.5-7B-Instruct", context);
    at.forced.isEndless = true;
    const stop = new AbortController();
    const running = at.ask("first", "Say hi.", stop.signal);
    await expect.poll(() => at.server.model.stats().running, { timeout: turnMs }).toBeGreaterThan(0);
    stop.abort();
    await running;
    await expect.poll(() => at.server.model.stats().running, { timeout: 30_000 }).toBe(0);
    expect(failed(at.forced.exchanges)).toEqual([]);
  });

  it("is told that the context is full, and by nothing else", async () => {
    await using at = await desk("Qwen-Qwen2.5-7B-Instruct", small);
    await at.ask("first", "Say hi.", at.forced.firstFailure);
    expect(failed(at.forced.exchanges)).not.toEqual([]);
    for (const { status, error } of failed(at.forced.exchanges))
      expect([status, error]).toEqual([400, expect.stringMatching(/context/)]);
  });
});
