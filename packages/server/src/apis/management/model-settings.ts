// The settings that stay with a model: GET and PUT /api/v1/models/{id}/settings.
import { ModelSettings, ModelSettingsState } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import { addRoute, type Route } from "../../http/add-route.ts";
import { refusePath } from "../../models/library/model-library.ts";
import type { ModelRegistry } from "../../models/registry.ts";
import type { ModelSettingsStore } from "../../models/settings/model-settings-store.ts";
import { present } from "../../present.ts";
import { WireError } from "../../wire-error.ts";

const common = {
  right: "management",
  responses: { 200: ModelSettingsState },
  id: "The model's id or alias.",
} as const satisfies Partial<Route>;
const show = {
  ...common,
  path: "GET /api/v1/models/:id/settings",
  summary: "Get the settings that stay with a model",
  errors: ["model_not_found", "not_enabled"],
} satisfies Route;
const replace = {
  ...common,
  path: "PUT /api/v1/models/:id/settings",
  summary: "Replace the settings that stay with a model",
  body: ModelSettings,
  namesNoModel: true,
  errors: ["model_not_found", "not_enabled"],
  example: { context_length: 32_768, sampling: { temperature: 0.3 } },
} satisfies Route;

export function addModelSettings(
  app: FastifyInstance,
  { registry, modelSettings }: { registry: ModelRegistry; modelSettings: ModelSettingsStore | undefined },
): void {
  const store = (): ModelSettingsStore => {
    if (modelSettings !== undefined) return modelSettings;
    throw new WireError("not_enabled", "This server keeps no settings of models.");
  };
  const state = async (name: string): Promise<ModelSettingsState> => {
    const { id, names } = await registry.known(name);
    return { model: id, settings: present(store().own(id)), effective: present(store().settingsFor(names)) };
  };
  addRoute(app, show, async ({ params }) => await state(params.id));
  addRoute(app, replace, async ({ params, body }) => {
    const { id } = await registry.known(params.id);
    if (body.draft_model !== undefined) refusePath(body.draft_model, "draft_model");
    const settings = present(body);
    await store().set(id, [], Object.keys(settings).length === 0 ? undefined : settings);
    return await state(id);
  });
}
