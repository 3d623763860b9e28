// `ingle batch IN OUT`: computes the requests of a file, and appends each result to another file as soon as it is there. The same command
// continues one that was stopped: it leaves out the requests whose results are in OUT.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { batchLineBytesMax } from "@ingle/protocol";
import { LineChecker, type CheckedLine, type RequestLine } from "../../batches/check-lines.ts";
import { byPrefix } from "../../batches/prefix-order.ts";
import { readLines } from "../../batches/read-lines.ts";
import { problemResult, runLines, type LineResponse } from "../../batches/run-lines.ts";
import { CliError, exitCodes, usageError } from "../errors.ts";
import type { CommandContext } from "../context.ts";
import { startProgress } from "../progress.ts";
import type { BatchFlags } from "./batch-flags.ts";
import { BatchOutput } from "./batch-output.ts";
import { openBatchServer, type BatchServer } from "./batch-server.ts";
import { postJson } from "./post-json.ts";

const goOn = "Run the same command again to go on.";

/** The files of one command; `-` is stdin or stdout. */
interface BatchFiles {
  readonly input: string;
  readonly output: string;
}

/** Returns the exit code: 1 if a request failed. Throws CliError, and what loading the model throws. */
export async function batchCommand(
  { input, output: outputFile }: BatchFiles,
  flags: BatchFlags,
  context: CommandContext,
): Promise<number> {
  const { shutdown, stderr } = context;
  const isFile = input !== "-";
  if (isFile && !(await stat(input).catch(() => undefined))?.isFile())
    throw usageError(`There is no file ${input}.`);
  await using output = await BatchOutput.open(outputFile, context).catch((error: unknown) => {
    throw error instanceof Error && !("syscall" in error) ? usageError(error.message, error) : error;
  });
  const left = isFile ? await countLeft(input, output) : undefined;
  if (left !== 0) {
    await using server = await openBatchServer(flags, context);
    try {
      await compute({ input, output, left }, server, context);
    } catch (error) {
      const { done } = output.counts;
      stderr.write(`${done} results are in ${outputFile}. ${isFile ? goOn : ""}\n`);
      shutdown.signal.throwIfAborted();
      throw error;
    }
  }
  const { done, failed } = output.counts;
  const failures = failed === 0 ? "" : `, ${failed} of them failed`;
  stderr.write(`${done} results are in ${outputFile === "-" ? "stdout" : outputFile}${failures}.\n`);
  return failed === 0 ? exitCodes.ok : exitCodes.failure;
}

/** How many lines have no result yet. */
async function countLeft(input: string, output: BatchOutput): Promise<number> {
  let left = 0;
  for await (const checked of checkedLines(createReadStream(input))) if (!isDone(checked, output)) left += 1;
  return left;
}

async function* checkedLines(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<CheckedLine, void, undefined> {
  const checker = new LineChecker();
  for await (const line of readLines(source, { bytesMax: batchLineBytesMax })) yield checker.check(line);
}

function isDone(checked: CheckedLine, output: BatchOutput): boolean {
  return "line" in checked ? output.has(checked.line.customId) : output.hasLine(checked.problem.number);
}

interface Work {
  readonly input: string;
  readonly output: BatchOutput;
  /** Lines without a result; undefined: unknown. */
  readonly left: number | undefined;
}

async function compute(
  { input, output, left }: Work,
  server: BatchServer,
  context: CommandContext,
): Promise<void> {
  const { shutdown, stdin } = context;
  const source = input === "-" ? stdin : createReadStream(input);
  const before = output.counts.done;
  using progress = startProgress(left === undefined ? "Requests" : `${left} requests`, context);
  const show = (): void => {
    const done = output.counts.done - before;
    if (left !== undefined) progress.update(done / left, `${done} of ${left}`);
  };
  await runLines(byPrefix(linesToSend(source, output)), {
    places: () => server.places,
    send: async (line, signal) => await send(server, line, signal),
    keep: async (result) => {
      await output.add(result);
      show();
    },
    signal: shutdown.signal,
  });
}

/** Writes the results of wrong lines on the way. */
async function* linesToSend(
  source: AsyncIterable<Uint8Array>,
  output: BatchOutput,
): AsyncGenerator<RequestLine, void, undefined> {
  for await (const checked of checkedLines(source)) {
    if (isDone(checked, output)) continue;
    if ("line" in checked) yield checked.line;
    else await output.add(problemResult(checked.problem));
  }
}

async function send(
  { url, headers, model }: BatchServer,
  line: RequestLine,
  signal: AbortSignal,
): Promise<LineResponse> {
  const body = model === undefined ? line.body : { ...line.body, model };
  const request = { headers, body, signal };
  const response = await postJson(url + line.url, request).catch((cause: unknown) => {
    signal.throwIfAborted();
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CliError(`The server at ${url} does not respond any more: ${why}.`, { cause });
  });
  const { "retry-after": retryAfter, "x-request-id": requestId } = response.headers;
  return {
    status: response.status,
    requestId: String(requestId ?? ""),
    retryAfterSeconds: retryAfter === undefined ? undefined : Number(retryAfter),
    body: response.json ?? null,
  };
}
