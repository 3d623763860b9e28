// The flags of `ingle batch`.
import type { FlagsOf } from "../../settings/setting.ts";
import { settings } from "../../settings/settings.ts";
import { loadingSettings, remoteFlags, type FlagsIn } from "../command-flags.ts";

export const batchLoadingSettings = [
  ...loadingSettings,
  { ...settings.engine.parallel, defaultText: "32" },
] as const;

const [url, apiKey] = remoteFlags;

export const batchFlags = [
  { ...url, defaultText: "a server of yours that knows the model, else the model is loaded" },
  apiKey,
] as const;
export type BatchFlags = FlagsIn<typeof batchLoadingSettings> & FlagsOf<(typeof batchFlags)[number]>;
