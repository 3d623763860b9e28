// A model with its settings from the file: what the registry knows about it, and what its requests get.
import type { ModelSettings } from "@ingle/protocol";
import type { KnownModel, PrepareOptions } from "../catalog/known-model.ts";
import { settingsOver, toLoadSettings, type LoadSettings } from "../slot/load-settings.ts";
import { mergeReplies } from "./merge-settings.ts";
import type { ModelSettingsStore } from "./model-settings-store.ts";

/** The model, loaded and answering by the settings of the store, which are looked up anew each time. */
export function settledModel(known: KnownModel, store: ModelSettingsStore): KnownModel {
  const names = [known.id, ...(known.aliases ?? [])];
  const own = (): ModelSettings => store.settingsFor(names);
  const over = (request: PrepareOptions): PrepareOptions => {
    const loading = loadSettings(own());
    const settings = loading === undefined ? request.settings : settingsOver(request.settings, loading);
    return { ...request, settings };
  };
  const forecast = known.forecast?.bind(known);
  const settled = {
    get aliases() {
      return [...(known.aliases ?? []), ...store.aliases(names)];
    },
    get settings() {
      return known.settings === undefined ? undefined : settingsOver(loadSettings(own()), known.settings);
    },
    get replies() {
      const { profiles = {}, ...settings } = own();
      return { defaults: mergeReplies({}, settings), profiles };
    },
    prepare: async (request: PrepareOptions) => await known.prepare(over(request)),
    ...(forecast === undefined
      ? {}
      : { forecast: async (request: PrepareOptions) => await forecast(over(request)) }),
  };
  // The getters outrank those of the copy.
  return Object.defineProperties({ ...known, ...settled }, Object.getOwnPropertyDescriptors(settled));
}

/** How a model is loaded; undefined if its settings do not say. Sampling is not part of it: it applies at once. */
export function loadSettings({
  draft_model: draftModel,
  ...settings
}: ModelSettings): LoadSettings | undefined {
  const loading = toLoadSettings({ ...settings, sampling: undefined });
  return draftModel === undefined ? loading : { ...loading, draftModel };
}
