// Images by URL: only from allowed hosts, only from public addresses, however they are spelled, resolved once.
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { fetchImage, type ImageFetchOptions } from "./fetch-image.ts";
import { isPublicAddress } from "../access/ip-address.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** Listens on loopback and returns its port. */
async function listen(onRequest: RequestListener): Promise<number> {
  const server = createServer(onRequest);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** Pretends that `images.example` is at 127.0.0.1 and that this is a public address. */
function world(options: Partial<ImageFetchOptions> = {}): ImageFetchOptions {
  return {
    allowedHosts: new Set(["images.example"]),
    maxBytes: 1000,
    signal: new AbortController().signal,
    resolve: async () => ["127.0.0.1"],
    mayConnect: () => true,
    ...options,
  };
}

const invalid = { code: "image_invalid" };

describe("an image by URL", () => {
  it("is fetched from an allowed host, at the checked address", async () => {
    const hosts: (string | undefined)[] = [];
    const port = await listen((request, response) => {
      hosts.push(request.headers.host);
      response.end("image");
    });
    const asked: string[] = [];
    const resolve = async (host: string): Promise<string[]> => {
      asked.push(host);
      return ["127.0.0.1"];
    };
    const bytes = await fetchImage(`http://IMAGES.example:${port}/a.png`, world({ resolve }));
    expect(bytes.toString()).toBe("image");
    expect(asked).toEqual(["images.example"]);
    expect(hosts).toEqual([`images.example:${port}`]);
  });

  it("is not fetched from another host, with another protocol, or with a password", async () => {
    const urls = [
      "http://images.example.evil.com/a.png",
      "http://evil.com/?images.example",
      "http://images.example@evil.com/",
      "http://me:secret@images.example/",
      "ftp://images.example/a.png",
      "file:///etc/passwd",
      "http://",
      "images.example/a.png",
    ];
    const resolve = async (): Promise<string[]> => {
      throw new Error("was resolved");
    };
    for (const url of urls)
      await expect(fetchImage(url, world({ resolve })), url).rejects.toMatchObject(invalid);
  });

  it("is not fetched from addresses that are not public, however they are written, even if they are allowed", async () => {
    const spelled = [
      "127.0.0.1",
      "localhost",
      "2130706433",
      "0x7f000001",
      "0177.0.0.1",
      "127.1",
      "0",
      "[::1]",
      "[::]",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "[64:ff9b::7f00:1]",
      "[2002:7f00:1::]",
      "169.254.169.254",
      "[fd00:ec2::254]",
      "10.0.0.1",
    ];
    const port = await listen((_, response) => response.end("secret"));
    for (const host of spelled) {
      const url = `http://${host}:${port}/`;
      const allowedHosts = new Set([new URL(url).hostname.replace(/^\[|\]$/g, "")]);
      const { resolve: _, mayConnect: __, ...real } = world({ allowedHosts });
      const fetched = fetchImage(url, { ...real, resolve: async () => ["127.0.0.1"] });
      await expect(fetched, host).rejects.toMatchObject(invalid);
    }
  });

  it("is not fetched if any address of its host is not public", async () => {
    const { mayConnect: _, ...real } = world();
    for (const addresses of [["93.184.216.34", "127.0.0.1"], ["::1"], []]) {
      const fetched = fetchImage("http://images.example/", { ...real, resolve: async () => addresses });
      await expect(fetched).rejects.toMatchObject(invalid);
    }
  });

  it("does not follow redirects", async () => {
    let secretsRead = 0;
    const secret = await listen((_, response) => response.end(String((secretsRead += 1))));
    const port = await listen((_, response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${secret}/` }).end();
    });
    await expect(fetchImage(`http://images.example:${port}/`, world())).rejects.toMatchObject(invalid);
    expect(secretsRead).toBe(0);
  });

  it("is limited in size, with or without a content-length", async () => {
    const announced = await listen((_, response) => response.end(Buffer.alloc(1001)));
    const endless = await listen((_, response) => {
      const more = setInterval(() => response.write(Buffer.alloc(400)), 1);
      response.on("close", () => clearInterval(more));
    });
    for (const port of [announced, endless]) {
      const fetched = fetchImage(`http://images.example:${port}/`, world());
      await expect(fetched).rejects.toMatchObject({ code: "payload_too_large" });
    }
  });

  it("is an error if the host fails, and ends with the signal", async () => {
    const broken = await listen((_, response) => response.destroy());
    await expect(fetchImage(`http://images.example:${broken}/`, world())).rejects.toMatchObject(invalid);
    const missing = await listen((_, response) => response.writeHead(404).end());
    await expect(fetchImage(`http://images.example:${missing}/`, world())).rejects.toMatchObject(invalid);
    const silent = await listen(() => {});
    const controller = new AbortController();
    const reason = new Error("gone");
    setTimeout(() => controller.abort(reason), 20);
    const fetched = fetchImage(`http://images.example:${silent}/`, world({ signal: controller.signal }));
    await expect(fetched).rejects.toBe(reason);
  });
});

it("classifies public and other addresses", () => {
  for (const address of [
    "1.1.1.1",
    "93.184.216.34",
    "223.255.255.255",
    "2606:4700::1111",
    "2a00:1450:4001::200e",
  ])
    expect(isPublicAddress(address), address).toBe(true);
  const others = [
    "172.31.0.1",
    "100.64.0.1",
    "192.0.0.8",
    "255.255.255.255",
    "224.0.0.1",
    "0.1.2.3",
    "198.19.0.1",
  ];
  const ipv6 = [
    "fe80::1",
    "fc00::1",
    "ff02::1",
    "2001:db8::1",
    "2001::1",
    "3fff::1",
    "::ffff:1.1.1.1",
    "4000::1",
  ];
  for (const address of [...others, ...ipv6, "localhost", ""])
    expect(isPublicAddress(address), address).toBe(false);
});
