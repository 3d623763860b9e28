// The program of the processes that pdf-text.ts starts: the text of the PDF on stdin goes to stdout. A thread reads the PDF, and the
// main thread ends the process when it uses too much memory: V8's limits do not count the bytes that a PDF unpacks to.
import { buffer } from "node:stream/consumers";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { extractText, getDocumentProxy } from "unpdf";
import { failures, memoryBytesMax } from "./pdf-text.ts";

const watchMs = 20;

async function watch(): Promise<void> {
  const thread = new Worker(new URL(import.meta.url), { workerData: await buffer(process.stdin) });
  setInterval(() => {
    if (process.memoryUsage.rss() > memoryBytesMax) process.exit(failures.tooLarge.exitCode);
  }, watchMs);
  thread.on("message", (text: string) => process.stdout.write(text, () => process.exit(0)));
  thread.on("error", ({ name, code }: Error & { code?: string }) => {
    const { exitCode } =
      code === "ERR_WORKER_OUT_OF_MEMORY"
        ? failures.tooLarge
        : failures[name === "PasswordException" ? "locked" : "damaged"];
    process.exit(exitCode);
  });
}

async function read(): Promise<void> {
  const document = await getDocumentProxy(new Uint8Array(workerData), { verbosity: 0 });
  const { text: pages } = await extractText(document, { mergePages: false });
  const texts = pages.map((page) => page.trim()).filter((page) => page !== "");
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origins, windows have
  parentPort?.postMessage(texts.join("\n\n"));
}

await (isMainThread ? watch() : read());
