import { writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { scriptedControl } from "../../test/harness/scripted-control.ts";
import { defaultSettings, KeptSettings, settingsAfter } from "./kept-settings.ts";

describe("a change", () => {
  it("keeps fields that it does not contain, and drops unknown ones", () => {
    expect(settingsAfter(defaultSettings, { host: "0.0.0.0", later: 1 })).toEqual({
      ...defaultSettings,
      host: "0.0.0.0",
    });
  });

  it.each([
    [{ variant: "developer" }, 1337, 1234],
    [{ variant: "developer" }, 8080, 8080],
    [{ variant: "developer", port: 9000 }, 1337, 9000],
    [{ variant: "desktop" }, 1337, 1337],
    [{ host: "0.0.0.0" }, 8080, 8080],
  ] as const)("%j of port %i has port %i", (change, port, after) => {
    expect(settingsAfter({ ...defaultSettings, port }, change).port).toBe(after);
  });

  it.each([
    ["host", { host: "not a host" }],
    ["host", { host: "" }],
    ["allow_hosts", { allow_hosts: ["a:80"] }],
    ["allow_origins", { allow_origins: ["chat.example"] }],
    ["allow_origins", { allow_origins: ["https://*"] }],
  ])("with an invalid %s is refused, and names the field", (param, change) => {
    expect(() => settingsAfter(defaultSettings, change)).toThrow(
      expect.objectContaining({
        code: "invalid_request",
        details: { param },
        message: expect.stringContaining(param),
      }),
    );
  });
});

it("settings survive a restart; values edited to be invalid are not used", async () => {
  await using scripted = await scriptedControl();
  await scripted.settings.change({ models: ["a"], starts_with_app: true }, () => {});
  const file = path.join(scripted.folder, "server.json");
  const again = await KeptSettings.open(file);
  expect(again.current).toEqual({ ...defaultSettings, models: ["a"], starts_with_app: true });
  await writeFile(file, JSON.stringify({ version: 1, settings: { ...defaultSettings, host: "a b" } }));
  const wrong = await KeptSettings.open(file);
  expect([wrong.current, wrong.problem]).toEqual([defaultSettings, expect.stringContaining("server.json")]);
});
