import { connect } from "node:net";
import { userLengthMax } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import type { ServerFlags } from "../config.ts";
import { scriptedId, scriptedServer } from "../../test/harness/scripted-server.ts";

interface Ask {
  key?: string;
  user?: string | null;
  /** Sent as x-llm-d-inference-fairness-id. */
  fairness?: string;
  /** Sent as x-session-id. */
  session?: string;
  cache_salt?: string;
}

const keys = { apiKey: ["first-key", "second-key"] };

type Sent = Awaited<ReturnType<typeof scriptedServer>>["log"]["requests"][number];

/** What the engine was given, for requests of several connections, one connection after the other. */
async function listRequests(flags: ServerFlags, connections: readonly (readonly Ask[])[]): Promise<Sent[][]> {
  await using scripted = await scriptedServer({ flags });
  const sent: Sent[][] = [];
  for (const asks of connections) {
    const before = scripted.log.requests.length;
    const responses = await converse(scripted.server.port, asks);
    expect(responses.match(/HTTP\/1\.1 200 /g)).toHaveLength(asks.length);
    sent.push(scripted.log.requests.slice(before));
  }
  return sent;
}

async function listClients(...of: Parameters<typeof listRequests>): Promise<string[][]> {
  return (await listRequests(...of)).map((sent) => sent.map(({ client }) => client));
}

async function listSalts(flags: ServerFlags, asks: readonly Ask[]): Promise<string[]> {
  return (await listRequests(flags, [asks])).flat().map(({ cacheSalt }) => cacheSalt);
}

/** Sends all requests through one connection and returns all that comes back. */
async function converse(port: number, asks: readonly Ask[]): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(asks.map((ask, index) => requestText(ask, index === asks.length - 1)).join(""));
  return (await socket.toArray()).join("");
}

function requestText({ key, fairness, session, ...body }: Ask, isLast: boolean): string {
  const payload = JSON.stringify({ model: scriptedId, messages: [{ role: "user", content: "Hi" }], ...body });
  return [
    "POST /v1/chat/completions HTTP/1.1",
    "Host: localhost",
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(payload)}`,
    ...(key === undefined ? [] : [`Authorization: Bearer ${key}`]),
    ...(fairness === undefined ? [] : [`x-llm-d-inference-fairness-id: ${fairness}`]),
    ...(session === undefined ? [] : [`x-session-id: ${session}`]),
    ...(isLast ? ["Connection: close"] : []),
    "",
    payload,
  ].join("\r\n");
}

/** How many different ones there are. */
const distinct = (...clients: readonly string[][]): number => new Set(clients.flat()).size;

describe("a request counts for", () => {
  it("the API key that let it in, whatever its user and its connection", async () => {
    const [one = [], other = [], second = []] = await listClients(keys, [
      [{ key: "first-key" }, { key: "first-key", user: "ann" }],
      [{ key: "first-key", user: "bob" }],
      [{ key: "second-key", user: "bob" }],
    ]);
    expect(distinct(one, other)).toBe(1);
    expect(distinct(other, second)).toBe(2);
    expect([...one, ...other, ...second].join()).not.toMatch(/first-key|second-key/);
  });

  it("its user where no key is asked for, whatever bearer token it sends", async () => {
    const [one = [], other = []] = await listClients({}, [
      [{ user: "ann", key: "anything" }, { user: "ann" }],
      [{ user: "ann", key: "something" }],
    ]);
    expect(distinct(one, other)).toBe(1);
    expect(distinct(...(await listClients({}, [[{ user: "ann" }, { user: "bob" }]])))).toBe(2);
  });

  it("its connection where it names nobody", async () => {
    const [one = [], other = []] = await listClients({}, [
      [{}, { user: null }, { user: "" }, { key: "anything" }],
      [{}, { key: "anything" }],
    ]);
    expect([distinct(one), distinct(other), distinct(one, other)]).toEqual([1, 1, 2]);
  });
});

describe("behind a gateway, a request counts for", () => {
  const gateway = { ...keys, trustProxy: ["127.0.0.1"] };

  it("whom a trusted one names, within its key", async () => {
    const [clients = []] = await listClients(gateway, [
      [
        { key: "first-key", fairness: "ann" },
        { key: "first-key", fairness: "bob", user: "ann" },
        { key: "second-key", fairness: "ann" },
        { key: "first-key", fairness: "ann", user: "carl" },
      ],
    ]);
    const [ann, bob, other, again] = clients;
    expect(distinct(clients)).toBe(3);
    expect(again).toBe(ann);
    expect(new Set([ann, bob, other]).size).toBe(3);
  });

  it("its key where the sender is not trusted", async () => {
    const [clients = []] = await listClients(keys, [
      [
        { key: "first-key", fairness: "ann" },
        { key: "first-key", fairness: "bob" },
      ],
    ]);
    expect(distinct(clients)).toBe(1);
  });

  it("its session where it names nobody and no key is asked for", async () => {
    const [one = [], other = []] = await listClients({}, [
      [{ session: "a" }, { session: "b" }, { session: "a", fairness: "ann" }],
      [{ session: "a" }, { session: "" }],
    ]);
    expect(distinct(one)).toBe(3);
    expect(other[0]).toBe(one[0]);
    expect(distinct(one, other)).toBe(4);
  });
});

describe("what is computed is shared", () => {
  const ofOne = { key: "first-key" };

  it("by all where no key is asked for, but for those with a salt", async () => {
    const salts = await listSalts({}, [
      { user: "ann" },
      { user: "bob", key: "anything" },
      { cache_salt: "a" },
    ]);
    expect(salts.slice(0, 2)).toEqual(["", ""]);
    expect(salts[2]).toMatch(/^[0-9a-f]{64}$/);
  });

  it("within a key and a salt, whoever the user is", async () => {
    const salts = await listSalts(keys, [
      ofOne,
      { ...ofOne, user: "ann", fairness: "ann", session: "s" },
      { key: "second-key" },
      { ...ofOne, cache_salt: "a" },
      { key: "second-key", cache_salt: "a" },
    ]);
    expect(salts[1]).toBe(salts[0]);
    expect(new Set(salts).size).toBe(4);
    expect(salts).not.toContain("");
    expect(
      new Set(await listSalts({ ...keys, sharePrefixes: true }, [ofOne, { key: "second-key" }])),
    ).toEqual(new Set([""]));
  });

  it("in salts that begin alike for one key: the engine tells by that whose memory they take", async () => {
    const [one, salted, other] = await listSalts(keys, [
      ofOne,
      { ...ofOne, cache_salt: "a" },
      { key: "second-key", cache_salt: "a" },
    ]);
    expect(one?.slice(0, 32)).toBe(salted?.slice(0, 32));
    expect(one?.slice(32)).not.toBe(salted?.slice(32));
    expect(other?.slice(0, 32)).not.toBe(one?.slice(0, 32));
  });

  it("within the client whom a trusted gateway names", async () => {
    const gateway = { ...keys, trustProxy: ["127.0.0.1"] };
    const salts = await listSalts(gateway, [
      { ...ofOne, fairness: "ann" },
      { ...ofOne, fairness: "bob" },
      { ...ofOne, fairness: "ann" },
      { key: "second-key", fairness: "ann" },
    ]);
    expect(new Set(salts).size).toBe(3);
    expect(salts[2]).toBe(salts[0]);
  });
});

describe("a user", () => {
  it("is told from another that begins alike, however long", async () => {
    const long = "x".repeat(userLengthMax - 1);
    const [clients = []] = await listClients({}, [[{ user: `${long}a` }, { user: `${long}b` }]]);
    expect(distinct(clients.map((client) => client.slice(0, 128)))).toBe(2); // the engine keeps that much
  });

  it("cannot pose as a connection or a key", async () => {
    const real = [
      ...(await listClients({}, [[{}]])),
      ...(await listClients(keys, [[{ key: "first-key" }]])),
    ].flat();
    const [posing = []] = await listClients({}, [
      real.flatMap((user) => [{ user }, { user: user.replace(/^.*:/, "") }]),
    ]);
    expect(posing).toHaveLength(4);
    expect(posing.filter((client) => real.includes(client))).toEqual([]);
  });
});
