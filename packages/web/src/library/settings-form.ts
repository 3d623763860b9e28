// The fields of the settings that stay with a model, and what is stored for them. Pure.
import type { ModelSettings } from "@ingle/protocol";

import { kvBitsChoices } from "./load-form.ts";

/** As the server returns them: more than the form has. */
export type StoredSettings = Readonly<Record<string, unknown>>;

/** Null and "" leave a field to the server. */
export interface SettingsForm {
  contextLength: number | null;
  kvBits: string;
  temperature: number | null;
  systemPrompt: string;
  thinking: string;
}

export function toForm(stored: StoredSettings): SettingsForm {
  const { context_length: contextLength, kv_bits: kvBits, system_prompt: systemPrompt, thinking } = stored;
  const temperature = sampling(stored)["temperature"];
  return {
    contextLength: typeof contextLength === "number" ? contextLength : null,
    kvBits: typeof kvBits === "number" ? String(kvBits) : "",
    temperature: typeof temperature === "number" ? temperature : null,
    systemPrompt: typeof systemPrompt === "string" ? systemPrompt : "",
    thinking: typeof thinking === "boolean" ? (thinking ? "on" : "off") : "",
  };
}

/** The stored settings with those of the form. */
export function toSettings(form: SettingsForm, stored: StoredSettings): ModelSettings {
  const { contextLength, kvBits, temperature, systemPrompt, thinking } = form;
  const ofSampling = given({ ...sampling(stored), temperature: temperature ?? undefined });
  return given({
    ...stored,
    context_length: contextLength ?? undefined,
    kv_bits: kvBitsChoices.find((bits) => String(bits) === kvBits),
    system_prompt: systemPrompt.trim() === "" ? undefined : systemPrompt,
    thinking: thinking === "" ? undefined : thinking === "on",
    sampling: Object.keys(ofSampling).length === 0 ? undefined : ofSampling,
  });
}

function sampling({ sampling: of }: StoredSettings): StoredSettings {
  return typeof of === "object" && of !== null ? { ...of } : {};
}

/** The fields that have a value. */
function given(fields: StoredSettings): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
