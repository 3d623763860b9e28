import type { Platform } from "./platforms.d.ts";

export function buildFolder(folder: string, gpu: string | undefined): string;

export function findAddon(
  folder: string,
  machine?: { readonly env?: NodeJS.ProcessEnv; readonly host?: Platform },
): string;
