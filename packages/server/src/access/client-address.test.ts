import { describe, expect, it } from "vitest";
import { isLocalClient, type Arrival } from "./rights.ts";
import { isAddressOrNetwork, isLoopbackAddress, clientNetwork, trustedProxies } from "./ip-address.ts";

describe("a network", () => {
  it.each([
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["2001:DB8:0000:0000:1:2:3:4", "2001:db8:0:0"],
    ["2001:db8:0:1::", "2001:db8:0:1"],
    ["::1", "0:0:0:0"],
    ["fe80::1%eth0", "fe80:0:0:0"],
    ["1:2:3:4:5:6:7::", "1:2:3:4"],
    ["not an address", "not an address"],
  ])("of %s is %s", (address, network) => {
    expect(clientNetwork(address)).toBe(network);
  });
});

it.each<[string | undefined, boolean]>([
  ["127.0.0.1", true],
  ["127.9.9.9", true],
  ["::1", true],
  ["::ffff:127.0.0.1", true],
  ["localhost", false],
  ["::ffff:10.0.0.1", false],
  ["10.0.0.1", false],
  ["", false],
  [undefined, false],
])("%s is of loopback: %s", (address, isSo) => {
  expect(isLoopbackAddress(address)).toBe(isSo);
});

it.each([
  ["127.0.0.1", true],
  ["10.0.0.0/8", true],
  ["10.0.0.0/33", false],
  ["fd00::/8", true],
  ["fd00::/129", false],
  ["proxy.example", false],
  ["true", false],
  ["10.0.0.0/", false],
  ["10.0.0.0/8/8", false],
  ["", false],
])("%j is an address or a network: %s", (text, isSo) => {
  expect(isAddressOrNetwork(text)).toBe(isSo);
});

it("proxies are trusted by their address or network, in either form of it", () => {
  const isTrusted = trustedProxies(["10.0.0.0/8", "192.0.2.1", "fd00::/8"]);
  const addresses = [
    "10.1.2.3",
    "::ffff:10.1.2.3",
    "192.0.2.1",
    "fd12::1",
    "192.0.2.2",
    "fe00::1",
    "",
    undefined,
  ];
  expect(addresses.map(isTrusted)).toEqual([true, true, true, true, false, false, false, false]);
  expect(trustedProxies([])("127.0.0.1")).toBe(false);
});

describe("a local client", () => {
  const arrival: Arrival = {
    peer: "127.0.0.1",
    headers: {},
    isTrustedProxy: false,
    clientAddress: "127.0.0.1",
    hostNames: ["localhost"],
  };

  it.each<[Partial<Arrival>, boolean]>([
    [{}, true],
    [{ peer: "::ffff:127.0.0.1", hostNames: ["::1", "127.0.0.1"] }, true],
    [{ peer: undefined }, false],
    [{ peer: "192.0.2.1" }, false],
    [{ hostNames: [undefined] }, false],
    [{ hostNames: ["localhost", "models.example"] }, false],
    [{ headers: { "x-request-id": "x", referer: "http://localhost", "x-stainless-lang": "js" } }, true],
    [{ isTrustedProxy: true }, false],
    [{ isTrustedProxy: true, headers: { "x-forwarded-for": "127.0.0.1" } }, true],
    [{ isTrustedProxy: true, headers: { "x-forwarded-for": "x" }, clientAddress: "x" }, false],
  ])("is %j: %s", (change, isSo) => {
    expect(isLocalClient({ ...arrival, ...change })).toBe(isSo);
  });

  it.each([
    ..."forwarded via cdn-loop cf-ray cf-connecting-ip true-client-ip x-client-ip x-cluster-client-ip".split(
      " ",
    ),
    ..."x-forwarded x-forwarded-for x-forwarded-by x-original-forwarded-for x-original-host x-real-ip".split(
      " ",
    ),
    ..."fastly-client-ip fly-client-ip x-azure-clientip x-envoy-external-address x-arr-log-id".split(" "),
  ])("is nobody who sends %s", (name) => {
    expect(isLocalClient({ ...arrival, headers: { [name]: "127.0.0.1" } })).toBe(false);
  });
});
