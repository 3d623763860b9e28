import type { ServerSettings } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import { toFields, isOpenToOthers, offeredVariants, readSettings, withVariant } from "./settings-form.ts";

const settings: ServerSettings = {
  variant: "desktop",
  host: "127.0.0.1",
  port: 1337,
  allow_hosts: ["host.docker.internal"],
  allow_origins: ["https://chat.example"],
  parallel: null,
  models: [],
  starts_with_app: false,
};

describe("the fields of the settings", () => {
  it("become the same settings again", () => {
    const { models: _models, starts_with_app: _starts, ...change } = settings;
    expect(readSettings(toFields(settings))).toEqual({ ok: true, change });
  });

  it("accept lists separated by lines or commas", () => {
    const fields = { ...toFields(settings), allowHosts: " a.example, b.example\n\nc.example " };
    expect(readSettings(fields)).toMatchObject({
      change: { allow_hosts: ["a.example", "b.example", "c.example"] },
    });
  });

  it.each([
    ["port", { port: "0" }],
    ["port", { port: "65536" }],
    ["port", { port: "80 80" }],
    ["port", { port: "" }],
    ["host", { host: "" }],
    ["host", { host: "a b" }],
    ["allowHosts", { allowHosts: "http://a.example" }],
    ["allowOrigins", { allowOrigins: "chat.example" }],
    ["allowOrigins", { allowOrigins: "https://chat.example/path" }],
    ["parallel", { parallel: "257" }],
    ["parallel", { parallel: "many" }],
  ])("report an invalid %s: %j", (problem, wrong) => {
    expect(readSettings({ ...toFields(settings), ...wrong })).toEqual({ ok: false, problems: [problem] });
  });

  it("change a default port with the variant, and keep any other", () => {
    expect(withVariant(toFields(settings), "developer").port).toBe("1234");
    expect(withVariant({ ...toFields(settings), port: "8080" }, "developer").port).toBe("8080");
  });
});

describe("a variant", () => {
  it("that the app does not offer is shown but not sent", () => {
    const fields = toFields({ ...settings, variant: "serverless" });
    expect(offeredVariants(fields.variant)).toEqual(["desktop", "developer", "serverless"]);
    expect(offeredVariants("desktop")).toEqual(["desktop", "developer"]);
    const read = readSettings(fields);
    expect(read.ok && "variant" in read.change).toBe(false);
  });
});

describe("a host", () => {
  it.each(["127.0.0.1", "localhost", "::1", "127.1.2.3"])("%s is for this machine only", (host) => {
    expect(isOpenToOthers({ host })).toBe(false);
  });

  it.each(["0.0.0.0", "::", "192.168.0.7"])("%s is open to others", (host) => {
    expect(isOpenToOthers({ host })).toBe(true);
  });
});
