import { describe, expect, it } from "vitest";

import {
  emptySettings,
  nearestAllowed,
  hasSettings,
  isSameSettings,
  moreFields,
  recommendedFor,
  schemaProblem,
  serverDefaults,
  settingFields,
  type SettingField,
  stopProblem,
} from "./settings-fields.ts";

const field = (name: SettingField["name"]) => settingFields.find((each) => each.name === name)!;

describe("nearestAllowed", () => {
  it("keeps a value within the server's bounds", () => {
    expect(nearestAllowed(field("topP"), 0)).toBe(0.001);
    expect(nearestAllowed(field("minP"), 2)).toBe(1);
    expect(nearestAllowed(field("temperature"), 0)).toBe(0);
    expect(nearestAllowed(field("topK"), 12.6)).toBe(13);
  });
});

describe("serverDefaults", () => {
  it("has the top_k of the variant", () => {
    expect(serverDefaults("desktop").topK).toBe(40);
    expect(serverDefaults("command-line").topK).toBe(50);
  });

  it("is within the range of every slider", () => {
    for (const { name, min, max } of [...settingFields, ...moreFields]) {
      expect(serverDefaults("desktop")[name]).toBeGreaterThanOrEqual(min);
      expect(serverDefaults("desktop")[name]).toBeLessThanOrEqual(max);
    }
  });
});

describe("recommendedFor", () => {
  it("knows LFM2 and its variants, with and without vision", () => {
    const texts = { temperature: 0.3, minP: 0.15, repeatPenalty: 1.05 };
    expect(recommendedFor("lfm2", false)).toEqual(texts);
    expect(recommendedFor("lfm2moe", false)).toEqual(texts);
    expect(recommendedFor("lfm2", true)).toEqual({ ...texts, temperature: 0.1 });
    expect(recommendedFor("llama", false)).toBeNull();
    expect(recommendedFor(null, false)).toBeNull();
  });
});

describe("hasSettings", () => {
  it("checks only the given values", () => {
    const settings = { ...emptySettings, temperature: 0.3, topK: 5 };
    expect(hasSettings(settings, { temperature: 0.3 })).toBe(true);
    expect(hasSettings(settings, { temperature: 0.3, minP: 0.15 })).toBe(false);
  });
});

describe("isSameSettings", () => {
  it("takes a field that older settings lack for an empty one", () => {
    const { seed: _seed, stop: _stop, rolling: _rolling, ...older } = emptySettings;
    expect(isSameSettings(older, emptySettings)).toBe(true);
    expect(isSameSettings(emptySettings, older)).toBe(true);
    expect(isSameSettings(older, { ...emptySettings, seed: 0 })).toBe(false);
    expect(isSameSettings({ ...emptySettings, stop: "END" }, older)).toBe(false);
  });
});

describe("stopProblem and schemaProblem", () => {
  it("have the server's limits", () => {
    expect(stopProblem(`${"x\n".repeat(128)}\n`)).toBeNull();
    expect(stopProblem("x\n".repeat(129))).toBe("tooMany");
    expect(stopProblem("x".repeat(1_025))).toBe("tooLong");
    expect(schemaProblem(JSON.stringify({ description: "x".repeat(262_144) }))).toEqual({ kind: "tooLong" });
  });

  it("tell what is no schema", () => {
    expect([schemaProblem(" \n"), schemaProblem("{}")]).toEqual([null, null]);
    expect([schemaProblem("[]"), schemaProblem("null"), schemaProblem("1")]).toEqual(
      Array.from({ length: 3 }, () => ({ kind: "noObject" })),
    );
    expect(schemaProblem("{")).toMatchObject({ kind: "notJson" });
  });
});
