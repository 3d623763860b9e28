// `pnpm bench decode`: how fast one reply streams over HTTP from our server, compared with llama-bench of the same
// llama.cpp, which only decodes. The gap to 1.0 is the cost of the server, HTTP and the bridge to JavaScript.
import { BenchError } from "./bench-error.ts";
import { plainEnvironment, runProgram } from "./child-process.ts";
import { startHttpSubject } from "./http-subject.ts";
import { llamaProgram } from "./peers.ts";
import { makePrompts, deriveSeed, measureTokensPerWord } from "./prompts.ts";
import { recordRound, type RunOptions } from "./runner.ts";
import { charted, higherIsBetter, type Measured, type Round, type Scenario } from "./scenario.ts";
import { decodeSpeed, userRequest } from "./stream-record.ts";

const replyTokens = 64;
/** llama-bench starts from an empty context; this is close to it. */
const promptTokens = 8;
const benchLimitMs = 600_000;

/** The scenario for the report; decode does not use the runner. */
export const decodeScenario: Omit<Scenario, "cases"> = {
  name: "decode",
  meaning: `One reply of ${replyTokens} tokens over HTTP, beside llama-bench -p 0 -n ${replyTokens}.`,
  subjects: ["ingle", "llama-bench"],
  measures: [
    charted(higherIsBetter("tokensPerSecond", "speed as the client sees it", "tokens/s")),
    higherIsBetter("serverTokensPerSecond", "speed as the server tells it", "tokens/s"),
  ],
};

/** Alternates between Ingle and llama-bench. Throws BenchError if the machine is busy, or the signal's reason. */
export async function runDecode(options: RunOptions): Promise<Round[]> {
  const tokensPerWord = await measureTokensPerWord(options.model, options);
  const rounds: Round[] = [];
  for (let round = 1; round <= options.rounds; round += 1) {
    const seed = deriveSeed(options.seed, `decode ${round}`);
    const work = {
      ingle: async () => await measureIngle(seed, tokensPerWord, options),
      "llama-bench": async () => await measureLlamaBench(options),
    };
    for (const subject of ["ingle", "llama-bench"] as const) {
      const head = { scenario: "decode", case: "one client", round, seed, subject };
      rounds.push(await recordRound(head, "tokensPerSecond", work[subject], options));
    }
  }
  return rounds;
}

async function measureIngle(seed: number, tokensPerWord: number, options: RunOptions): Promise<Measured> {
  const prompts = makePrompts(seed, tokensPerWord);
  await using subject = await startHttpSubject("ingle", options);
  const ask = async (maxTokens: number) =>
    await subject.stream(userRequest(prompts.text(promptTokens), maxTokens));
  await ask(promptTokens); // llama-bench warms up too
  const record = await ask(replyTokens);
  const told = record.serverTokensPerSecond;
  if (told === undefined) throw new BenchError("The server did not tell its own speed.");
  return {
    values: { tokensPerSecond: decodeSpeed(record), serverTokensPerSecond: told },
    requests: [record],
  };
}

async function measureLlamaBench({ model, threads, signal }: RunOptions): Promise<Measured> {
  const sizes = ["-p", 0, "-n", replyTokens, "-t", threads, "-r", 1];
  const args = ["-m", model, ...sizes, "-o", "json"].map(String);
  const output = await runProgram(llamaProgram("llama-bench"), args, {
    env: plainEnvironment(),
    limitMs: benchLimitMs,
    signal,
  });
  const speed = parseLlamaBench(output);
  return { values: { tokensPerSecond: speed, serverTokensPerSecond: speed }, requests: [] };
}

/** The tokens per second of the only test in llama-bench's JSON. Throws BenchError. */
export function parseLlamaBench(output: string): number {
  try {
    const tests: { avg_ts: number }[] = JSON.parse(output);
    const [test] = tests;
    if (tests.length === 1 && typeof test?.avg_ts === "number") return test.avg_ts;
  } catch (error) {
    throw new BenchError(`llama-bench wrote no JSON: ${output.slice(0, 300)}`, { cause: error });
  }
  throw new BenchError(`llama-bench reported no single test: ${output.slice(0, 300)}`);
}
