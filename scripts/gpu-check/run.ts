// Runs on the machine with the GPU (run.sh starts it): tests by name, then speeds beside llama-server with models of real sizes and
// random weights. What fails is in the report like what passes, and ends nothing else.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, release, totalmem } from "node:os";
import path from "node:path";
import { makeBlockModel, type TinyModelOptions } from "@ingle/fixtures";
import { z } from "zod";
import {
  measureKvTypes,
  measurePrompts,
  measureReplies,
  measureStepSizes,
  measureUnequal,
  type Row,
} from "@ingle/bench/speeds";

const [out = "out", llamaServer = ""] = process.argv.slice(2);
/** Of the checkout that pack.ts has packed. */
const root = process.cwd();
const gpu = process.env["INGLE_GPU"] ?? "cpu";
const isStandIn = gpu === "cpu";
const testsMsMax = 10 * 60_000;
/** Memory, if there is enough: disks of lent machines are slow. */
const models = path.join(existsSync("/dev/shm") ? "/dev/shm" : out, "gpu-check-models");

/** Llama 3 8B and LFM2 8B A1B; small ones where a processor stands in for the card. */
const shapes: Readonly<Record<string, TinyModelOptions>> = isStandIn
  ? {
      llama: { vocabulary: "llama-spm", embedding: 256, feedForward: 512, layers: 2 },
      "lfm2 with experts": {
        architecture: "lfm2moe",
        embedding: 256,
        feedForward: 256,
        heads: 4,
        kvHeads: 2,
      },
    }
  : {
      "llama 8B": {
        vocabulary: "llama-bpe",
        embedding: 4096,
        feedForward: 14_336,
        layers: 32,
        heads: 32,
        kvHeads: 8,
        headSize: 128,
        contextLength: 131_072,
      },
      "lfm2 8B with experts": {
        architecture: "lfm2moe",
        vocabulary: "gpt-2",
        embedding: 2048,
        feedForward: 1792,
        layers: 24,
        heads: 32,
        kvHeads: 8,
        experts: 32,
        expertsUsed: 4,
        contextLength: 131_072,
      },
    };

const lines: string[] = [];
function write(...more: string[]): void {
  lines.push(...more);
  console.log(more.join("\n"));
  writeFileSync(path.join(out, "report.md"), `${lines.join("\n")}\n`);
}

/** Adds a part to the report; its failure too. */
async function part(title: string, fill: () => Promise<string[]> | string[]): Promise<void> {
  write("", `## ${title}`, "");
  const begin = performance.now();
  try {
    write(...(await fill()));
  } catch (error) {
    write(`failed: ${error instanceof Error ? error.message : String(error)}`);
  }
  write("", `(${((performance.now() - begin) / 1000).toFixed(0)} s)`);
}

/** What a program says, or why it says nothing. */
function told(program: string, ...args: string[]): string {
  try {
    return execFileSync(program, args, {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  } catch (error) {
    return `${program} failed: ${error instanceof Error ? error.message : String(error)}`;
  }
}

const TestReport = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      message: z.string().default(""),
      assertionResults: z.array(
        z.object({
          fullName: z.string(),
          status: z.string(),
          failureMessages: z.array(z.string()).default([]),
        }),
      ),
    }),
  ),
});

/** Every test by name, with the first line of what failed. */
function runTests(): string[] {
  const file = path.join(out, "tests.json");
  rmSync(file, { force: true });
  const chosen = isStandIn
    ? ["--project", "model", "packages/engine/test/generate.model.test.ts"]
    : ["--project", "gpu"];
  const vitest = path.join("node_modules", "vitest", "vitest.mjs");
  const { status, signal } = spawnSync(
    process.execPath,
    [vitest, "run", ...chosen, "--reporter=default", "--reporter=json", `--outputFile.json=${file}`],
    { cwd: root, stdio: "inherit", timeout: testsMsMax },
  );
  if (!existsSync(file)) throw new Error(`no test has ended: ${status ?? signal}`);
  const { testResults } = TestReport.parse(JSON.parse(readFileSync(file, "utf8")));
  const all = testResults.flatMap(({ assertionResults }) => assertionResults);
  const count = (wanted: string): number => all.filter(({ status: found }) => found === wanted).length;
  return [
    `${count("passed")} passed, ${count("failed")} failed, ${all.length - count("passed") - count("failed")} not run.`,
    "",
    ...testResults
      .filter(({ assertionResults, message }) => assertionResults.length === 0 && message !== "")
      .map(({ name, message }) => `- ${path.relative(root, name)}: ${message.split("\n")[0] ?? ""}`),
    ...all.map(
      ({ fullName, status: found, failureMessages: [first = ""] }) =>
        `- ${found}: ${fullName}${first === "" ? "" : ` (${first.split("\n")[0] ?? ""})`}`,
    ),
  ];
}

function toTable([head, ...rows]: readonly Row[]): string[] {
  const toLine = (row: Row): string => `| ${row.join(" | ")} |`;
  return head === undefined
    ? []
    : [toLine(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(toLine)];
}

mkdirSync(out, { recursive: true });
mkdirSync(models, { recursive: true });
process.on("exit", () => rmSync(models, { recursive: true, force: true }));
write(
  `# Ingle on ${gpu}`,
  "",
  `Commit ${readFileSync(path.join(root, "COMMIT"), "utf8").trim()}, ${new Date().toISOString().slice(0, 10)}; ` +
    `${cpus()[0]?.model.trim() ?? "unknown processor"}, ${availableParallelism()} cores, ` +
    `${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform} ${release()}`,
);
await part("Device", () => [
  "```",
  ...(isStandIn ? [] : [told("nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv")]),
  told(process.execPath, path.join("packages", "server", "bin", "ingle.js"), "doctor"),
  "```",
]);
await part("Tests", runTests);
for (const [name, shape] of Object.entries(shapes)) {
  const servers = [
    "ingle",
    // A hybrid's sequences have no streams.
    ...(shape.architecture === "lfm2moe" ? [] : ["streams"]),
    ...(existsSync(llamaServer) ? ["llama-server"] : []),
  ];
  const model = path.join(models, `${name.replaceAll(" ", "-")}.gguf`);
  await part(`${name}: the model`, async () => {
    await makeBlockModel(model, shape);
    return ["written"];
  });
  const subject = { model, llamaServer, isSmall: isStandIn };
  await part(`${name}: replies`, async () => toTable(await measureReplies(subject, servers)));
  await part(`${name}: prompts`, async () => toTable(await measurePrompts(subject, servers)));
  await part(`${name}: types of the KV cache`, async () => toTable(await measureKvTypes(subject)));
  await part(`${name}: sizes of steps`, async () => toTable(await measureStepSizes(subject)));
  await part(`${name}: contexts of unequal lengths`, async () =>
    toTable(await measureUnequal(subject, servers)),
  );
  rmSync(model, { force: true });
}
