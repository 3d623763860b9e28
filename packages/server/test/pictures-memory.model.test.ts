// Pictures come and go over HTTP: what `ingle serve` took for hundreds of them, as files, pixels, tiles, embeddings and cells, is
// given back or used anew.
import { spawn, type ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { drawImage, encodeJpeg, tinyVisionModel } from "@ingle/fixtures";
import type { ChatCompletion, ModelList } from "@ingle/protocol";
import { afterEach, expect, it } from "vitest";

const program = fileURLToPath(new URL("../bin/ingle.js", import.meta.url));
const [width, height] = [1000, 800];
/** Until thread stacks, caches of decoders and the allocator's arenas have the size that they stay at. */
const warmUp = 40;
const pictures = 200;
/** One picture is 2.4 MB of pixels: were a tenth of them kept, it would show. Of each, 4 kB of embeddings are kept on purpose. */
const growthMax = 48 * 1024 * 1024;
/** Of this model, whatever its size. */
const tokensOfPicture = 16;
const limitMs = 120_000;

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

interface Served {
  url: string;
  model: string;
  /** Memory of the process, in bytes. */
  resident(): Promise<number>;
}

async function serve(): Promise<Served> {
  const { model, projector } = await tinyVisionModel({ architecture: "gemma3" });
  const args = [
    "serve",
    "--model",
    model,
    "--mmproj",
    projector,
    "--threads",
    "1",
    "--cache-ram",
    "0",
    "--port",
    "0",
  ];
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  let output = "";
  child.stderr.on("data", (data: Buffer) => (output += data.toString()));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (data: Buffer) => {
      output += data.toString();
      const found = /(http:\/\/127\.0\.0\.1:\d+)[^]*curl /.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("close", () => reject(new Error(`it ended: ${output}`)));
  });
  const resident = async (): Promise<number> => {
    const status = await readFile(`/proc/${child.pid}/status`, "latin1");
    return 1024 * Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]);
  };
  const { data } = (await (await fetch(`${url}/v1/models`)).json()) as ModelList;
  return { url, model: data[0]?.id ?? "", resident };
}

const drawn = drawImage("gradient", width, height);

/** A photograph's size, and unlike every other number's: stripes have the number's bits. */
async function pictureUrl(number: number): Promise<string> {
  const data = Uint8Array.from(drawn.data);
  const stripe = 3 * width * (height / 10);
  for (let bit = 0; bit < 10; bit++) {
    if ((number >> bit) % 2 === 1) data.fill(20 * bit, stripe * bit, stripe * (bit + 0.5));
  }
  return `data:image/jpeg;base64,${(await encodeJpeg({ width, height, data })).toString("base64")}`;
}

async function see({ url, model: name }: Served, number: number): Promise<void> {
  const image = { type: "image_url", image_url: { url: await pictureUrl(number) } };
  const text = { type: "text", text: "What is this?" };
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: name,
      messages: [{ role: "user", content: [image, text] }],
      max_tokens: 1,
    }),
  });
  const answer = (await response.json()) as ChatCompletion;
  expect(response.status, JSON.stringify(answer)).toBe(200);
  expect(answer.usage.prompt_tokens).toBeGreaterThan(tokensOfPicture); // it has seen it
}

it.runIf(process.platform === "linux")(
  "memory is what it was after 200 pictures, by what Linux says of the process",
  async () => {
    const served = await serve();
    for (let number = 0; number < warmUp; number++) await see(served, number);
    const before = await served.resident();
    for (let number = warmUp; number < warmUp + pictures; number++) await see(served, number);
    expect((await served.resident()) - before).toBeLessThan(growthMax);
  },
  limitMs,
);
