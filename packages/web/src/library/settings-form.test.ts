import { expect, it } from "vitest";

import { toForm, toSettings } from "./settings-form.ts";

const stored = {
  context_length: 4096,
  kv_bits: 8,
  sampling: { temperature: 0.3, top_k: 20 },
  thinking: false,
  profiles: { coding: { system_prompt: "Code." } },
};

it("shows what is stored, and leaves it as it is if nothing is changed", () => {
  expect(toForm(stored)).toEqual({
    contextLength: 4096,
    kvBits: "8",
    temperature: 0.3,
    systemPrompt: "",
    thinking: "off",
  });
  expect(toSettings(toForm(stored), stored)).toEqual(stored);
  expect(toSettings(toForm({}), {})).toEqual({});
});

it("removes what is emptied, and keeps what it does not show", () => {
  const emptied = { contextLength: null, kvBits: "", temperature: null, systemPrompt: " ", thinking: "" };
  expect(toSettings(emptied, stored)).toEqual({ sampling: { top_k: 20 }, profiles: stored.profiles });
  expect(toSettings(emptied, { sampling: { temperature: 1 } })).toEqual({});
});
