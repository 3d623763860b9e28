import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, it } from "vitest";
import { httpServer, limitConnections } from "./http-server.ts";
import { testConfig } from "../test/harness/scripted-server.ts";

/** A server with so many connections an address, and what opens one. */
async function house(max: number, isExempt: (address: string) => boolean) {
  const server = httpServer((_request, response) => response.end("hello"), testConfig().limits, undefined);
  limitConnections(server, { max, isExempt });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  /** The connection when it is answered, undefined when it is ended. */
  const open = async (localAddress = "127.0.0.1"): Promise<Socket | undefined> => {
    const socket = connect({ port: address.port, host: "127.0.0.1", localAddress });
    socket.on("error", () => {}); // a reset
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const first = await Promise.race([once(socket, "data"), once(socket, "close").then(() => undefined)]);
    return first === undefined ? undefined : socket;
  };
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { open, [Symbol.asyncDispose]: close };
}

it("connections of one address beyond its number are ended, until one of them closes", async () => {
  await using server = await house(2, () => false);
  const one = await server.open();
  expect([one, await server.open(), await server.open()].map((socket) => socket !== undefined)).toEqual([
    true,
    true,
    false,
  ]);
  one?.destroy();
  await expect.poll(async () => (await server.open()) !== undefined).toBe(true);
  expect(await server.open()).toBeUndefined();
});

it.runIf(process.platform === "linux")("each address has a number of its own", async () => {
  await using server = await house(1, () => false);
  expect(await server.open()).toBeDefined();
  expect(await server.open("127.0.0.2")).toBeDefined(); // all of 127.0.0.0/8 is there
  expect(await server.open("127.0.0.2")).toBeUndefined();
});

it("those that are exempt, and with 0 all, have no such number", async () => {
  for (const [max, isExempt] of [
    [1, true],
    [0, false],
  ] as const) {
    await using server = await house(max, () => isExempt);
    for (let count = 0; count < 3; count += 1) expect(await server.open()).toBeDefined();
  }
});
