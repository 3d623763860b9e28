// The files of a request's images: in order, fetched in parallel, and within limits for the whole request.
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { UnreadImage } from "./content-parts.ts";
import { imageFiles, type FetchLimits } from "./image-files.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** A host of images on loopback, and requests' references to its images `/0`, `/1` and so on. */
async function startHost(onRequest: RequestListener): Promise<(count: number) => UnreadImage[]> {
  const server = createServer(onRequest);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return (count) =>
    Array.from({ length: count }, (_, index) => named(`http://images.example:${port}/${index}`, index));
}

function named(url: string, index: number): UnreadImage {
  return { type: "image", url, place: `content[${index}]`, param: `content[${index}].image_url.url` };
}

const roomy: FetchLimits = { bytesMax: 1_000_000, msMax: 10_000, atOnce: 4 };

async function readFiles(
  images: readonly UnreadImage[],
  limits: Partial<FetchLimits> = {},
): Promise<string[]> {
  const reading = { allowedHosts: new Set(["images.example"]), signal: new AbortController().signal };
  const world = {
    resolve: async () => ["127.0.0.1"],
    mayConnect: () => true,
    limits: { ...roomy, ...limits },
  };
  return (await imageFiles(images, reading, world)).map((file) => Buffer.from(file).toString());
}

describe("the images of a request", () => {
  it("are returned in order, however long each takes, also with data: URLs among them", async () => {
    const images = await startHost((request, response) => {
      const number = Number(request.url?.slice(1));
      setTimeout(() => response.end(`image ${number}`), (7 - number) * 5);
    });
    const mixed = images(8);
    mixed[3] = named(`data:image/png;base64,${Buffer.from("image 3").toString("base64")}`, 3);
    expect(await readFiles(mixed)).toEqual(Array.from({ length: 8 }, (_, index) => `image ${index}`));
    expect(await readFiles([])).toEqual([]);
  });

  it("are fetched a few at a time", async () => {
    let [now, most] = [0, 0];
    const images = await startHost((_, response) => {
      most = Math.max(most, (now += 1));
      setTimeout(() => {
        now -= 1;
        response.end("image");
      }, 10);
    });
    expect(await readFiles(images(12), { atOnce: 3 })).toHaveLength(12);
    expect(most).toBe(3);
  });

  it("are limited in size together", async () => {
    const images = await startHost((_, response) => response.end(Buffer.alloc(1000)));
    expect(await readFiles(images(5), { bytesMax: 5000 })).toHaveLength(5);
    await expect(readFiles(images(6), { bytesMax: 5999 })).rejects.toMatchObject({
      code: "payload_too_large",
      details: { param: expect.stringMatching(/^content\[\d\]\.image_url\.url$/) },
    });
  });

  it("are limited in time together", async () => {
    const images = await startHost((_, response) => void setTimeout(() => response.end("image"), 60));
    const begin = performance.now();
    await expect(readFiles(images(64), { msMax: 150, atOnce: 2 })).rejects.toMatchObject({
      code: "image_invalid",
      message: expect.stringContaining("data: URLs"),
    });
    expect(performance.now() - begin).toBeLessThan(1000);
  });

  it("are no longer fetched when one of them fails", async () => {
    let asked = 0;
    const ended: Promise<void>[] = [];
    const images = await startHost((request, response) => {
      asked += 1;
      ended.push(new Promise((resolve) => response.on("close", resolve)));
      if (request.url === "/2") response.writeHead(404).end();
    });
    await expect(readFiles(images(64))).rejects.toMatchObject({
      code: "image_invalid",
      details: { param: "content[2].image_url.url" },
    });
    await Promise.all(ended);
    expect(asked).toBeLessThanOrEqual(roomy.atOnce);
  });
});
