// A thread that makes and sends large bodies, so that this work does not count as the server's. A body is a list of texts with
// how often each is repeated; `%` in a repeated text stands for its number.
// No TypeScript project contains this file, so this line tells the linter that it runs in Node.
/// <reference types="node" />
import { once } from "node:events";
import { request } from "node:http";
import { parentPort } from "node:worker_threads";

/** How much is written at once. */
const chunkLength = 256 * 1024;

/** @param {{ text: string, times: number }[]} parts */
function* makeChunks(parts) {
  let chunk = "";
  for (const { text, times } of parts) {
    const isNumbered = times > 1 && text.includes("%");
    const some = isNumbered ? 1 : Math.max(1, Math.ceil(chunkLength / text.length));
    const repeated = text.repeat(Math.min(times, some));
    for (let done = 0; done < times;) {
      const count = Math.min(times - done, some);
      chunk += isNumbered
        ? text.replaceAll("%", String(done))
        : count === some
          ? repeated
          : text.repeat(count);
      done += count;
      if (chunk.length < chunkLength) continue;
      yield chunk;
      chunk = "";
    }
  }
  yield chunk;
}

/** @param {{ url: string, parts: { text: string, times: number }[] }} task */
async function send({ url, parts }) {
  const sent = request(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    agent: false,
  });
  const answered = once(sent, "response");
  answered.catch(() => {});
  let isRefused = false;
  sent.on("error", () => (isRefused = true)); // the server stopped reading, and may have responded before
  sent.once("response", () => (isRefused = true));
  for (const chunk of makeChunks(parts)) {
    if (isRefused) break;
    if (!sent.write(chunk)) await Promise.race([once(sent, "drain"), answered]).catch(() => {});
  }
  sent.end();
  const [response] = await answered;
  let [length, text] = [0, ""];
  for await (const piece of response) {
    length += piece.length;
    if (text.length < 2_000) text += piece.toString();
  }
  return { status: response.statusCode, length, text };
}

/** @param {{ url: string, parts: { text: string, times: number }[] }} task */
async function answer(task) {
  try {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origins, windows have
    parentPort.postMessage(await send(task));
  } catch (error) {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origins, windows have
    parentPort.postMessage({ status: 0, length: 0, text: String(error) });
  }
}

parentPort.on("message", (task) => void answer(task));
