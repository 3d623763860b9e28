// The texts of the page in the user's language, such as `strings.value.app.close`.
import { signal } from "@preact/signals";

import { en, type Strings } from "./en.ts";

export const languages = ["en", "de"] as const;
export type Language = (typeof languages)[number];

/** Without an entry, the browser's language applies. */
const storageKey = "ingle-language";

/** The current texts. Components that read this signal rerender when the language changes. */
export const strings = signal<Strings>(en);
export const language = signal<Language>("en");

/** The chosen language, or else the first of the browser's languages that the page has, or English. */
export function preferredLanguage(chosen: string | null, browser: readonly string[]): Language {
  const wanted = [chosen ?? "", ...browser].map((tag) => tag.toLowerCase().split("-")[0]);
  return (
    wanted.map((tag) => languages.find((known) => known === tag)).find((known) => known !== undefined) ?? "en"
  );
}

/** Loads the user's language. Call it before the first render. */
export async function startLanguage(): Promise<void> {
  await applyLanguage(preferredLanguage(localStorage.getItem(storageKey), navigator.languages));
}

/** Changes the language and remembers the choice. */
export async function chooseLanguage(name: Language): Promise<void> {
  localStorage.setItem(storageKey, name);
  await applyLanguage(name);
}

async function applyLanguage(name: Language): Promise<void> {
  strings.value = name === "en" ? en : (await import("./de.ts")).de;
  language.value = name;
  document.documentElement.lang = name;
}
