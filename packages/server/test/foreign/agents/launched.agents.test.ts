// Coding agents from npm, started by `ingle launch` without any configuration of their own: a conversation with a real server.
// INGLE_ONE_AGENT takes those whose name it matches.
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { chatTemplate, realServer } from "../../real-server.ts";
import { askOverAcp } from "./acp.ts";
import { closedEnvironment } from "./closed-environment.ts";
import { forcedReplies, isFailure, longestPrompt, type Exchange } from "./forced-replies.ts";
import { endLeftBehind, runProgram, type RunningProgram } from "./program-run.ts";
import { agentPrograms } from "./programs.ts";

const ingle = fileURLToPath(new URL("../../../bin/ingle.js", import.meta.url));
const contextLength = 65_536;
const apiKey = "a-key-of-the-tests-1234";
const turnMs = 240_000;
const installMs = 600_000;

interface Launched {
  /** The name in `ingle launch`. */
  launch: string;
  name: string;
  /** The npm package with its version. Default: that of programs.ts. */
  package?: string;
  /** What keeps it from the network. */
  env?: Record<string, string>;
  first: (prompt: string) => string[];
  /** Absent: it cannot continue a conversation without being asked for its number. */
  next?: (prompt: string) => string[];
}

const exec = ["exec", "--skip-git-repo-check", "-s", "read-only"];
const allLaunched: readonly Launched[] = [
  {
    launch: "codex",
    name: "Codex",
    first: (prompt) => [...exec, prompt],
    next: (prompt) => [...exec, "resume", "--last", prompt],
  },
  {
    launch: "claude",
    name: "Claude Code",
    env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_TELEMETRY: "1", DISABLE_AUTOUPDATER: "1" },
    first: (prompt) => ["-p", prompt],
    next: (prompt) => ["-p", "--continue", prompt],
  },
  {
    launch: "opencode",
    name: "OpenCode",
    env: { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" },
    first: (prompt) => ["run", prompt],
    next: (prompt) => ["run", "--continue", prompt],
  },
  {
    launch: "qwen",
    name: "Qwen Code",
    env: { QWEN_TELEMETRY_ENABLED: "0", QWEN_USAGE_STATISTICS_ENABLED: "0" },
    first: (prompt) => ["-p", prompt],
    next: (prompt) => ["--continue", "-p", prompt],
  },
  { launch: "cline", name: "Cline", first: () => ["--acp"], next: () => ["--acp"] },
  {
    launch: "continue",
    name: "Continue",
    env: { CONTINUE_TELEMETRY_ENABLED: "0" },
    first: (prompt) => ["-p", prompt],
    next: (prompt) => ["-p", "--resume", prompt],
  },
  {
    launch: "copilot",
    name: "GitHub Copilot CLI",
    package: "@github/copilot@1.0.102",
    env: { COPILOT_AUTO_UPDATE: "false", COPILOT_OFFLINE: "true" },
    first: (prompt) => ["-p", prompt],
    next: (prompt) => ["--continue", "-p", prompt],
  },
  {
    launch: "droid",
    name: "Droid",
    package: "droid@0.215.0",
    first: (prompt) => ["exec", prompt],
  },
];
const chosen = allLaunched.filter(({ name }) => new RegExp(process.env["INGLE_ONE_AGENT"] ?? "").test(name));

const root = await mkdtemp(path.join(tmpdir(), "ingle-launched-"));
afterAll(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));

/** The program, installed and with a home of its own, and a real server behind a proxy that ends replies. */
async function desk({ launch, name, package: named, env = {} }: Launched) {
  const agent = agentPrograms.find((each) => each.name === name);
  const folder = path.join(root, launch);
  await mkdir(folder);
  const install = ["install", "--no-audit", "--no-fund", "--prefix", folder, named ?? agent?.package ?? name];
  await runProgram("npm", install, { cwd: folder, env: process.env, timeoutMs: installMs });
  const server = await realServer({
    fixture: {
      vocabulary: "qwen2",
      chatTemplate: await chatTemplate("Qwen-Qwen2.5-7B-Instruct"),
      contextLength,
    },
    load: { contextLength, parallel: 2, threads: 2 },
    flags: { apiKey: [apiKey] },
  });
  const forced = await forcedReplies(server.baseUrl.slice(0, -"/v1".length), server.model.info.tokens.eos);
  const [home, temporary] = [path.join(root, `${launch}-home`), path.join(root, `${launch}-tmp`)];
  const project = path.join(home, "project");
  await mkdir(project, { recursive: true });
  await mkdir(temporary);
  const closed = closedEnvironment(home);
  const run = {
    cwd: project,
    env: {
      ...closed,
      PATH: `${path.join(folder, "node_modules/.bin")}${path.delimiter}${closed["PATH"]}`,
      TMPDIR: temporary,
      INGLE_HOME: path.join(home, "ingle"),
      ...env,
    },
    timeoutMs: turnMs,
    signal: forced.firstFailure, // some would try again and again
  };
  const words = [ingle, "launch", launch, "--url", forced.url, "--api-key", apiKey, "--"];
  let session: string | undefined;
  const talk = async (child: RunningProgram, prompt: string): Promise<void> => {
    session = await askOverAcp(child, { cwd: project, prompt, session });
  };
  const isSpoken = agent?.speaksAcp === true;
  /** The exchange with the longest prompt of this turn. */
  const turn = async (args: readonly string[], prompt: string): Promise<Exchange> => {
    const inner = isSpoken ? (child: RunningProgram) => talk(child, prompt) : undefined;
    // A failed response ended the program, so it is shown first.
    const [asked] = await Promise.allSettled([runProgram(process.execPath, [...words, ...args], run, inner)]);
    const exchanges = forced.exchanges.splice(0);
    expect(exchanges.filter(isFailure)).toEqual([]);
    expect(asked).toEqual({ status: "fulfilled", value: undefined });
    return longestPrompt(exchanges);
  };
  const close = async (): Promise<void> => {
    await endLeftBehind(home);
    await forced[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  };
  return { turn, temporary, isSpoken, [Symbol.asyncDispose]: close };
}

describe.each(chosen)("ingle launch $launch", (launched) => {
  it("holds a conversation, and leaves no temporary folder", async () => {
    const { name, first, next } = launched;
    await using at = await desk(launched);
    const { prompt: firstPrompt } = await at.turn(first("Say hi."), "Say hi.");
    process.stderr.write(`${name}: ${firstPrompt} tokens\n`);
    if (next !== undefined) {
      const { prompt, cached } = await at.turn(next("Once more."), "Once more.");
      process.stderr.write(`${name}: then ${cached} of ${prompt} cached\n`);
      expect(prompt).toBeGreaterThan(firstPrompt);
      expect(cached / prompt).toBeGreaterThanOrEqual(0.95);
    }
    // What is asked over the Agent Client Protocol is killed in the end, and cannot clean up.
    if (!at.isSpoken)
      expect((await readdir(at.temporary)).filter((entry) => entry.startsWith("ingle-launch-"))).toEqual([]);
  });
});
