// The sampling settings as data: usual ranges, the server's bounds, and its defaults. Pure.
import type { ChatSettings } from "../chats/conversation.ts";

export const emptySettings: ChatSettings = {
  systemPrompt: "",
  temperature: null,
  topP: null,
  topK: null,
  minP: null,
  repeatPenalty: null,
  maxTokens: null,
  effort: null,
};

type NumberSetting = Exclude<keyof ChatSettings, "systemPrompt" | "effort">;

export interface SettingField {
  name: Exclude<NumberSetting, "maxTokens">;
  /** The range of the slider: the usual one, widened by the value that turns the setting off. */
  min: number;
  max: number;
  step: number;
  /** The range that the server accepts. */
  numberMin: number;
  numberMax: number;
  isWhole: boolean;
}

/** Larger than any vocabulary. */
const topKMax = 1_000_000;

export const settingFields: readonly SettingField[] = [
  { name: "temperature", min: 0, max: 2, step: 0.05, numberMin: 0, numberMax: 100, isWhole: false },
  { name: "topP", min: 0.05, max: 1, step: 0.01, numberMin: 0.001, numberMax: 1, isWhole: false },
  { name: "topK", min: 0, max: 100, step: 1, numberMin: 0, numberMax: topKMax, isWhole: true },
  { name: "minP", min: 0, max: 0.5, step: 0.01, numberMin: 0, numberMax: 1, isWhole: false },
  { name: "repeatPenalty", min: 1, max: 1.5, step: 0.01, numberMin: 0.01, numberMax: 10, isWhole: false },
];

/** The values that apply if nothing is sent. The variants of the server differ only in `top_k`. */
export function serverDefaults(variant: string): Record<SettingField["name"], number> {
  const isDesktop = variant === "desktop" || variant === "developer";
  return { temperature: 1, topP: 1, topK: isDesktop ? 40 : 50, minP: 0, repeatPenalty: 1 };
}

/** The nearest value that the server accepts. */
export function fitted(field: SettingField, value: number): number {
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

/** Whether all of these values are set already. */
export function hasSettings(settings: ChatSettings, wanted: Partial<ChatSettings>): boolean {
  return Object.entries(wanted).every(([name, value]) => Reflect.get(settings, name) === value);
}

export function isSameSettings(one: ChatSettings, other: ChatSettings): boolean {
  return hasSettings(one, other);
}
