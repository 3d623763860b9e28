// The text of a PDF. A process of its own reads it, because a small file may unpack to any size: pdf-program.ts ends itself when it
// uses too much memory.
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { textLengthMax } from "@ingle/protocol";
import pLimit from "p-limit";
import { packageFolder } from "../this-package.ts";
import { WireError } from "../wire-error.ts";

/** Each takes a core, and up to `memoryBytesMax`. */
const atOnceMax = 2;
const waitingMax = 64;
const msMax = 30_000;
export const memoryBytesMax = 1024 * 1024 * 1024;

/** Why the program could not read a PDF. */
export const failures = {
  damaged: { exitCode: 20, reason: "The PDF is damaged." },
  locked: { exitCode: 21, reason: "The PDF is protected by a password; remove it first." },
  tooLarge: {
    exitCode: 22,
    reason: `Reading the PDF takes more than ${memoryBytesMax} bytes of memory; send a part of it.`,
  },
} as const;

// The built file: a process cannot run TypeScript.
const program = path.join(packageFolder, "dist/content/pdf-program.js");
const run = promisify(execFile);
const places = pLimit(atOnceMax);

/**
 * The text of all pages. Throws `document_invalid` with the reason if there is none, `overloaded` if too many PDFs wait, and the
 * signal's reason.
 */
export async function pdfText(
  bytes: Uint8Array,
  { param, signal }: { param: string; signal: AbortSignal },
): Promise<string> {
  if (places.pendingCount >= waitingMax)
    throw new WireError("overloaded", "Too many PDFs wait to be read; try again shortly.");
  const text = await places(async () => {
    signal.throwIfAborted();
    try {
      return await read(bytes, signal);
    } catch (cause) {
      signal.throwIfAborted();
      throw new WireError("document_invalid", failureReason(cause), { param, cause });
    }
  });
  if (text !== "") return text;
  const message =
    "The PDF contains no text, only scanned pages. Send them as images to a model that reads images.";
  throw new WireError("document_invalid", message, { param });
}

async function read(bytes: Uint8Array, signal: AbortSignal): Promise<string> {
  const running = run(process.execPath, [program], {
    signal,
    timeout: msMax,
    killSignal: "SIGKILL",
    // A character has at most 3 bytes in UTF-8 for each UTF-16 unit.
    maxBuffer: 3 * textLengthMax,
    env: { ...process.env, ELECTRON_RUN_AS_NODE: "1" },
  });
  const { stdin } = running.child;
  stdin?.on("error", () => {}); // it has ended early, and its exit code says why
  stdin?.end(bytes);
  const { stdout } = await running;
  return stdout;
}

function failureReason(error: unknown): string {
  const { code, killed }: { code?: unknown; killed?: unknown } = Object(error);
  if (code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER")
    return `The text of the PDF is longer than ${textLengthMax} characters; send a part of it.`;
  if (killed === true) return `Reading the PDF took longer than ${msMax / 1000} seconds; send a part of it.`;
  const failure = Object.values(failures).find(({ exitCode }) => exitCode === code);
  return (failure ?? failures.damaged).reason;
}
