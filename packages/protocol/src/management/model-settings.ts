// Settings that stay with a model, as the file of settings and PUT /api/v1/models/{id}/settings have them. An unknown field is an error in the
// file, where nothing would tell that it is ignored.
import { tokensMax } from "@ingle/generation-options";
import { z } from "zod";

import { flag, integerField, optionalField, responseObject, stringField } from "../fields/field.ts";
import { refineSampling, samplingFields } from "../fields/sampling.ts";
import { LoadRequest } from "./models.ts";

/** Names of models that a file may have settings for. */
const modelsMax = 1_000;
const profilesMax = 32;
const aliasesMax = 16;
const nameLengthMax = 256;
const systemPromptLengthMax = 64 * 1024;

const { model: _model, wait: _wait, sampling: _sampling, ...loadFields } = LoadRequest.shape;

/** Defaults of requests: they apply at once. */
const replyFields = {
  system_prompt: optionalField(
    stringField("system_prompt", { min: 1, max: systemPromptLengthMax }),
    "The system message of chats that have none.",
  ),
  thinking: flag("thinking", "Whether the model thinks in chats that do not say."),
  thinking_budget_tokens: optionalField(
    integerField("thinking_budget_tokens", { min: -1, max: tokensMax }),
    "Most tokens of a thought; -1 means no limit.",
  ),
  sampling: optionalField(
    z.strictObject(samplingFields, { error: sampleRule }).superRefine(refineSampling),
    "Defaults of sampling, by the names of a request's fields.",
  ),
};

function sampleRule({ code, keys }: { code?: string; keys?: readonly string[] }): string {
  return code === "unrecognized_keys" ? `sampling has no field ${keys?.[0]}` : "sampling must be an object";
}

/** What requests to `model:profile` get where the profile says something; it shares the weights and the computed prefixes of its model. */
export const ReplyDefaults = z.strictObject(replyFields).meta({ id: "ReplyDefaults" });
export type ReplyDefaults = z.infer<typeof ReplyDefaults>;

const profileName = z
  .string()
  .regex(/^[\w.-]{1,64}$/, "a profile's name has 1 to 64 letters, digits, dots, hyphens and underscores");

/** The settings of a model; absent ones are the server's. */
export const ModelSettings = z
  .strictObject({
    ...replyFields,
    ...loadFields,
    draft_model: optionalField(
      stringField("draft_model", { min: 1, max: nameLengthMax }),
      "A smaller model, or a speculator, that drafts tokens for this one.",
    ),
    aliases: optionalField(
      z.array(stringField("aliases", { min: 1, max: nameLengthMax })).max(aliasesMax),
      "Further names of the model.",
    ),
    profiles: optionalField(
      z
        .record(profileName, ReplyDefaults)
        .refine((profiles) => Object.keys(profiles).length <= profilesMax, `at most ${profilesMax} profiles`),
      "Variants of the settings by name: requests name one as `model:profile`.",
    ),
  })
  .meta({ id: "ModelSettings" });
export type ModelSettings = z.infer<typeof ModelSettings>;

/** The content of the file. */
export const ModelSettingsFile = z
  .strictObject({
    $schema: z.string().optional(),
    models: z
      .record(z.string().min(1).max(nameLengthMax), ModelSettings)
      .refine((models) => Object.keys(models).length <= modelsMax, `at most ${modelsMax} models`)
      .describe(
        "By id, alias, or a pattern in which * stands for any characters. Longer names outrank shorter ones.",
      ),
  })
  .meta({ id: "ModelSettingsFile", title: "Settings of models for Ingle" });
export type ModelSettingsFile = z.infer<typeof ModelSettingsFile>;

const shownSettings = z.record(z.string(), z.unknown());

/** The response of `GET` and `PUT /api/v1/models/{id}/settings`. */
export const ModelSettingsState = responseObject("ModelSettingsState", {
  model: z.string(),
  settings: shownSettings.describe("Of this model alone: the fields of ModelSettings that are set."),
  effective: shownSettings.describe("The same with those of the patterns that its names match."),
});
export type ModelSettingsState = z.infer<typeof ModelSettingsState>;
