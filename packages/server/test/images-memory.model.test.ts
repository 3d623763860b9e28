// Images over HTTP: what `ingle serve` allocates for hundreds of them, as files, pixels, tiles, embeddings and cells, is freed or
// reused.
import { spawn, type ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { drawImage, encodeJpeg, tinyVisionModel } from "@ingle/fixtures";
import type { ChatCompletion, ModelList } from "@ingle/protocol";
import { afterEach, expect, it } from "vitest";

const program = fileURLToPath(new URL("../bin/ingle.js", import.meta.url));
const [width, height] = [1000, 800];
/** Until thread stacks, caches of decoders and the allocator's arenas have their final size. */
const warmUp = 40;
const images = 200;
/** One image is 2.4 MB of pixels: a leak of a tenth of them would show. 4 kB of embeddings for each are kept on purpose. */
const growthMax = 48 * 1024 * 1024;
/** Of this model, whatever the image's size. */
const tokensOfImage = 16;
const limitMs = 120_000;

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

interface Served {
  url: string;
  model: string;
  /** Memory of the server's process and of its engine's, in bytes. */
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
    const engines = (await readFile(`/proc/${child.pid}/task/${child.pid}/children`, "latin1")).match(/\d+/g);
    expect(engines).toHaveLength(1);
    const sizes = [child.pid, ...(engines ?? [])].map(async (pid) => {
      const status = await readFile(`/proc/${pid}/status`, "latin1");
      return 1024 * Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]);
    });
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size);
  };
  const { data } = (await (await fetch(`${url}/v1/models`)).json()) as ModelList;
  return { url, model: data[0]?.id ?? "", resident };
}

const drawn = drawImage("gradient", width, height);

/** A photograph's size, and different for each number: its stripes are the number's bits. */
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
  const completion = (await response.json()) as ChatCompletion;
  expect(response.status, JSON.stringify(completion)).toBe(200);
  expect(completion.usage.prompt_tokens).toBeGreaterThan(tokensOfImage); // the image is in the prompt
}

it.runIf(process.platform === "linux")(
  "memory is the same after 200 images, by the process's figures of Linux",
  async () => {
    const served = await serve();
    for (let number = 0; number < warmUp; number++) await see(served, number);
    const before = await served.resident();
    for (let number = warmUp; number < warmUp + images; number++) await see(served, number);
    expect((await served.resident()) - before).toBeLessThan(growthMax);
  },
  limitMs,
);
