import { describe, expect, it } from "vitest";

import { emptySettings } from "../chats/conversation.ts";
import {
  fitted,
  hasSettings,
  recommendedFor,
  serverDefaults,
  settingFields,
  type SettingField,
} from "./settings-fields.ts";

const field = (name: SettingField["name"]) => settingFields.find((each) => each.name === name)!;

describe("fitted", () => {
  it("keeps a value inside of what the server takes", () => {
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

  it("stands inside of every slider", () => {
    for (const { name, min, max } of settingFields) {
      expect(serverDefaults("desktop")[name]).toBeGreaterThanOrEqual(min);
      expect(serverDefaults("desktop")[name]).toBeLessThanOrEqual(max);
    }
  });
});

describe("recommendedFor", () => {
  it("knows LFM2, with and without eyes, and its kin", () => {
    const texts = { temperature: 0.3, minP: 0.15, repeatPenalty: 1.05 };
    expect(recommendedFor("lfm2", false)).toEqual(texts);
    expect(recommendedFor("lfm2moe", false)).toEqual(texts);
    expect(recommendedFor("lfm2", true)).toEqual({ ...texts, temperature: 0.1 });
    expect(recommendedFor("llama", false)).toBeNull();
    expect(recommendedFor(null, false)).toBeNull();
  });
});

describe("hasSettings", () => {
  it("tells whether values are set, whatever else is", () => {
    const settings = { ...emptySettings, temperature: 0.3, topK: 5 };
    expect(hasSettings(settings, { temperature: 0.3 })).toBe(true);
    expect(hasSettings(settings, { temperature: 0.3, minP: 0.15 })).toBe(false);
  });
});
