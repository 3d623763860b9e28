// Ollama's requests about models: show, pull and delete. `name` is the older name of `model`.
import { z } from "zod";

import { flag, optionalField } from "../fields/field.ts";
import { ignoredField } from "../fields/ignored-fields.ts";
import { bodyRule, modelField } from "../fields/request-fields.ts";

const namedModel = {
  model: optionalField(modelField, "The model's name."),
  name: optionalField(modelField, "An older name of model."),
};

function refineName(
  { model, name }: { model?: string | undefined; name?: string | undefined },
  context: z.RefinementCtx,
): void {
  if ((model ?? name ?? "") === "")
    context.addIssue({ code: "custom", path: ["model"], message: "model is missing: name one" });
}

/** The body of `POST /api/show`. */
export const OllamaShowRequest = z
  .looseObject(
    {
      ...namedModel,
      verbose: ignoredField("the response is always the short one", [false]),
      system: ignoredField("a model has no system prompt of its own", [""]),
      template: ignoredField("the model's own template is used", [""]),
      options: ignoredField("options belong to a request that generates"),
    },
    bodyRule,
  )
  .superRefine(refineName)
  .meta({ id: "OllamaShowRequest" });
export type OllamaShowRequest = z.infer<typeof OllamaShowRequest>;

/** The body of `POST /api/pull`. */
export const OllamaPullRequest = z
  .looseObject(
    {
      ...namedModel,
      stream: flag("stream", "Sends progress, one JSON object per line.", true),
      insecure: ignoredField("downloads are always verified", [false]),
      username: ignoredField("set HF_TOKEN for the server", [""]),
      password: ignoredField("set HF_TOKEN for the server", [""]),
    },
    bodyRule,
  )
  .superRefine(refineName)
  .meta({ id: "OllamaPullRequest" });
export type OllamaPullRequest = z.infer<typeof OllamaPullRequest>;

/** The body of `DELETE /api/delete`. */
export const OllamaDeleteRequest = z
  .looseObject(namedModel, bodyRule)
  .superRefine(refineName)
  .meta({ id: "OllamaDeleteRequest" });
export type OllamaDeleteRequest = z.infer<typeof OllamaDeleteRequest>;
