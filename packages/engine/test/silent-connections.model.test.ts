// Whoever connects to a worker without its key and says nothing does not keep out a server that has the key.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { makeWorkerKey, parseWorkerKey, WorkerHost } from "@ingle/engine";
import { afterAll, beforeAll, expect, it } from "vitest";
import { pendingMax } from "../src/native/workers/pending-connections.ts";
import { peerTls } from "../src/native/workers/tunnel-tls.ts";

const key = parseWorkerKey(makeWorkerKey());
const silentCount = 200;

let host: WorkerHost;
beforeAll(async () => {
  host = await WorkerHost.start({ key, host: "127.0.0.1", port: 0, devices: ["CPU"], onEvent: () => {} });
});
afterAll(() => host[Symbol.asyncDispose]());

async function silent(count: number, localAddress: string): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () =>
    connect({ host: "127.0.0.1", port: host.port, localAddress }).on("error", () => {}),
  );
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  return sockets;
}

const destroyAll = (sockets: readonly Socket[]): void => sockets.forEach((socket) => void socket.destroy());

/** Milliseconds until a server with the right key has proved it. */
async function msToProve(): Promise<number> {
  const start = performance.now();
  const socket = connectTls({ host: "127.0.0.1", port: host.port, ...peerTls(key) });
  await once(socket, "secureConnect");
  socket.destroy();
  return performance.now() - start;
}

it("connects a server with the key at once, although others from its own address are silent", async () => {
  const sockets = await silent(silentCount, "127.0.0.1");
  expect(await msToProve()).toBeLessThan(2_500);
  await expect.poll(() => sockets.filter(({ closed }) => !closed).length).toBe(pendingMax - 1);
  destroyAll(sockets);
});

it("takes the place of an address with many connections, not that of one with few", async () => {
  const few = await silent(1, "127.0.0.3");
  const many = await silent(silentCount, "127.0.0.2");
  await expect.poll(() => many.filter(({ closed }) => !closed).length).toBeLessThan(pendingMax);
  expect(few[0]?.closed).toBe(false);
  destroyAll([...few, ...many]);
});

it("keeps a server that has proved its key", async () => {
  const server = connectTls({ host: "127.0.0.1", port: host.port, ...peerTls(key) });
  await once(server, "secureConnect");
  const sockets = await silent(silentCount, "127.0.0.1");
  await sleep(200);
  expect(server.closed).toBe(false);
  destroyAll([...sockets, server]);
});
