import { describe, expect, it } from "vitest";

import {
  emptySettings,
  fitted,
  hasSettings,
  recommendedFor,
  serverDefaults,
  settingFields,
  type SettingField,
} from "./settings-fields.ts";

const field = (name: SettingField["name"]) => settingFields.find((each) => each.name === name)!;

describe("fitted", () => {
  it("keeps a value within the server's bounds", () => {
    expect(fitted(field("topP"), 0)).toBe(0.001);
    expect(fitted(field("minP"), 2)).toBe(1);
    expect(fitted(field("temperature"), 0)).toBe(0);
    expect(fitted(field("topK"), 12.6)).toBe(13);
  });
});

describe("serverDefaults", () => {
  it("has the top_k of the variant", () => {
    expect(serverDefaults("desktop").topK).toBe(40);
    expect(serverDefaults("command-line").topK).toBe(50);
  });

  it("is within the range of every slider", () => {
    for (const { name, min, max } of settingFields) {
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
