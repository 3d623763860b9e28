// The sampling settings as data: usual ranges, the server's bounds, and its defaults. Pure.
import type { ChatSettings } from "./conversation.ts";

type NumberSetting = Exclude<
  keyof ChatSettings,
  "systemPrompt" | "effort" | "stop" | "jsonSchema" | "rolling" | "embedder"
>;

export interface SettingField {
  name: Exclude<NumberSetting, "maxTokens" | "thinkingTokens" | "seed">;
  /** The range of the slider: the usual one, widened by the value that turns the setting off. */
  min: number;
  max: number;
  step: number;
  /** The range that the server accepts. */
  numberMin: number;
  numberMax: number;
  isWhole: boolean;
  /** The value that applies if nothing is sent. */
  usual: number;
}

/** Larger than any vocabulary. */
const topKMax = 1_000_000;

export const settingFields: readonly SettingField[] = [
  { name: "temperature", min: 0, max: 2, step: 0.05, numberMin: 0, numberMax: 100, isWhole: false, usual: 1 },
  { name: "topP", min: 0.05, max: 1, step: 0.01, numberMin: 0.001, numberMax: 1, isWhole: false, usual: 1 },
  { name: "topK", min: 0, max: 100, step: 1, numberMin: 0, numberMax: topKMax, isWhole: true, usual: 50 },
  { name: "minP", min: 0, max: 0.5, step: 0.01, numberMin: 0, numberMax: 1, isWhole: false, usual: 0 },
  {
    name: "repeatPenalty",
    min: 1,
    max: 1.5,
    step: 0.01,
    numberMin: 0.01,
    numberMax: 10,
    isWhole: false,
    usual: 1,
  },
];

/** Samplers that few need. */
export const moreFields: readonly SettingField[] = [
  {
    name: "xtcProbability",
    min: 0,
    max: 1,
    step: 0.05,
    numberMin: 0,
    numberMax: 1,
    isWhole: false,
    usual: 0,
  },
  {
    name: "xtcThreshold",
    min: 0,
    max: 0.5,
    step: 0.01,
    numberMin: 0,
    numberMax: 1,
    isWhole: false,
    usual: 0.1,
  },
  {
    name: "dryMultiplier",
    min: 0,
    max: 2,
    step: 0.05,
    numberMin: 0,
    numberMax: 100,
    isWhole: false,
    usual: 0,
  },
  { name: "dryBase", min: 1, max: 4, step: 0.05, numberMin: 1, numberMax: 100, isWhole: false, usual: 1.75 },
  {
    name: "dryAllowedLength",
    min: 0,
    max: 20,
    step: 1,
    numberMin: 0,
    numberMax: 4096,
    isWhole: true,
    usual: 2,
  },
  {
    name: "dryPenaltyLastN",
    min: -1,
    max: 4096,
    step: 1,
    numberMin: -1,
    numberMax: 4096,
    isWhole: true,
    usual: 64,
  },
];

/** Programs that read JSON keep larger whole numbers only roughly. */
export const seedMax = Number.MAX_SAFE_INTEGER;

/** A value for each setting. */
function forEach<Value>(value: (field: SettingField) => Value): Record<SettingField["name"], Value> {
  const entries = [...settingFields, ...moreFields].map((field) => [field.name, value(field)]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the fields are all that there are
  return Object.fromEntries(entries) as Record<SettingField["name"], Value>;
}

export const emptySettings: ChatSettings = {
  systemPrompt: "",
  ...forEach(() => null),
  maxTokens: null,
  thinkingTokens: null,
  effort: null,
  seed: null,
  stop: "",
  jsonSchema: "",
  rolling: false,
  embedder: null,
} satisfies Required<ChatSettings>;

/** The values that apply if nothing is sent. The variants of the server differ only in `top_k`. */
export function serverDefaults(variant: string): Record<SettingField["name"], number> {
  const isDesktop = variant === "desktop" || variant === "developer";
  const usual = forEach((field) => field.usual);
  return isDesktop ? { ...usual, topK: 40 } : usual;
}

/** The nearest value that the server accepts. */
export function nearestAllowed(field: SettingField, value: number): number {
  const inside = Math.min(field.numberMax, Math.max(field.numberMin, value));
  return field.isWhole ? Math.round(inside) : inside;
}

/** What the authors of LFM2 recommend for its text and vision models; null for other models. */
export function recommendedFor(
  architecture: string | null,
  hasVision: boolean,
): Partial<ChatSettings> | null {
  if (architecture === null || !architecture.startsWith("lfm2")) return null;
  return { temperature: hasVision ? 0.1 : 0.3, minP: 0.15, repeatPenalty: 1.05 };
}

/** Whether all of these values are set already. A field that older settings lack has its empty value. */
export function hasSettings(settings: ChatSettings, wanted: Partial<ChatSettings>): boolean {
  const whole = { ...emptySettings, ...settings };
  return Object.entries(wanted).every(([name, value]) => Reflect.get(whole, name) === value);
}

export function isSameSettings(one: ChatSettings, other: ChatSettings): boolean {
  return hasSettings(one, { ...emptySettings, ...other });
}

/** The server's limits. */
const stopsMax = 128;
const stopLengthMax = 1_024;

/** The stop texts, one a line; `\n`, `\t` and `\\` stand for a line break, a tab and a backslash. */
export function parseStops(typed = ""): string[] {
  return typed
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.replaceAll(/\\([nt\\])/g, (_whole, letter: string) => escapes[letter] ?? ""));
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", "\\": "\\" };

type StopProblem = "tooMany" | "tooLong";

/** Why the server would refuse the stop texts; null if it would not. */
export function stopProblem(typed = ""): StopProblem | null {
  const stops = parseStops(typed);
  if (stops.length > stopsMax) return "tooMany";
  return stops.some((stop) => stop.length > stopLengthMax) ? "tooLong" : null;
}

/** The server's limit for a schema. */
const schemaLengthMax = 262_144;

/** What is wrong with a JSON schema, before the server sees it; null: nothing. */
type SchemaProblem = { kind: "notJson"; reason: string } | { kind: "noObject" } | { kind: "tooLong" };

export function schemaProblem(typed = ""): SchemaProblem | null {
  if (typed.trim() === "") return null;
  if (typed.length > schemaLengthMax) return { kind: "tooLong" };
  try {
    const value: unknown = JSON.parse(typed);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? null : { kind: "noObject" };
  } catch (error) {
    return { kind: "notJson", reason: error instanceof Error ? error.message : String(error) };
  }
}
