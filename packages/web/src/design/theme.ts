// Light or dark: as the system, or as the user chose.
import { computed, signal } from "@preact/signals";

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const storageKey = "ingle-theme";

export const theme = signal<Theme>("system");

const systemIsDark = signal(false);

export const isDark = computed(() =>
  theme.value === "system" ? systemIsDark.value : theme.value === "dark",
);

/** Applies the stored choice. Call it before the first render. */
export function startTheme(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  systemIsDark.value = dark.matches;
  dark.addEventListener("change", ({ matches }) => (systemIsDark.value = matches));
  const kept = localStorage.getItem(storageKey);
  apply(themes.find((known) => known === kept) ?? "system");
}

export function chooseTheme(chosen: Theme): void {
  localStorage.setItem(storageKey, chosen);
  apply(chosen);
}

function apply(chosen: Theme): void {
  theme.value = chosen;
  const { dataset } = document.documentElement;
  if (chosen === "system") delete dataset["theme"];
  else dataset["theme"] = chosen;
}
