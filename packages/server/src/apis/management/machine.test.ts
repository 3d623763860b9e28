import path from "node:path";
import { Machine } from "@ingle/protocol";
import { expect, it } from "vitest";
import { thisMachine } from "../../this-machine.ts";
import { scriptedApp } from "../../../test/harness/scripted-server.ts";

const machine: Machine = {
  platform: "linux x64",
  processor: "A processor",
  cores: 4,
  memory_bytes: 8,
  available_bytes: 5,
  library_path: "/models",
  disk_free_bytes: null,
  devices: [{ name: "CPU", description: "A processor", kind: "cpu", memory_bytes: 8, free_bytes: 5 }],
  version: "1.0.0",
  llama_cpp: "v1",
};

it("GET /api/v1/machine describes the server's machine", async () => {
  await using server = await scriptedApp({ machine: async () => machine });
  expect((await server.app.inject({ url: "/api/v1/machine" })).json()).toEqual(machine);
});

it("requires the right to manage the server", async () => {
  await using server = await scriptedApp({ machine: async () => machine, flags: { apiKey: ["k"] } });
  const headers = { authorization: "Bearer k" };
  expect((await server.app.inject({ url: "/api/v1/machine", headers })).statusCode).toBe(403);
});

it("returns not_found if the server does not describe its machine", async () => {
  await using server = await scriptedApp();
  expect((await server.app.inject({ url: "/api/v1/machine" })).statusCode).toBe(404);
});

it("of this process is the machine that runs the test", async () => {
  const home = path.join(import.meta.dirname, "nobody-made-this-folder", "ingle");
  const found = Machine.parse(await thisMachine({ INGLE_HOME: home }));
  expect(found.library_path).toBe(path.join(home, "models"));
  expect(found.cores).toBeGreaterThan(0);
  expect(found.memory_bytes).toBeGreaterThan(found.available_bytes / 2);
  expect(found.available_bytes).toBeGreaterThan(0);
  expect(found.disk_free_bytes).toBeGreaterThan(0);
  expect(found.processor).not.toBe("");
  expect(found.devices.map(({ kind }) => kind)).toContain("cpu");
  expect(found.llama_cpp).not.toBe("");
});
