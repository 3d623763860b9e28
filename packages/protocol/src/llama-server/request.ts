// The requests of llama-server's own routes: completions, gaps to fill, tokens, templates and embeddings.
import { z } from "zod";

import { ChatMessages } from "../chat/messages.ts";
import { completionsMax } from "../completions.ts";
import { embeddingInputsMax } from "../embeddings.ts";
import { textField } from "../fields/content.ts";
import { flag, optionalField, refuseField, stringField } from "../fields/field.ts";
import { bodyRule, cacheSaltField, modelField, servedModelField } from "../fields/request-fields.ts";
import { refineSampling } from "../fields/sampling.ts";
import { boundedArray } from "../fields/size-precheck.ts";
import { refineContinuation, templateFields } from "../fields/template-fields.ts";
import { refineTools, toolFields } from "../fields/tools.ts";
import { llamaServerOptions } from "./options.ts";
import { mixedField, promptField } from "./prompt.ts";

const generationFields = {
  model: servedModelField,
  stream: flag("stream", "Sends the reply while it is generated, as server-sent events.", false),
  ...llamaServerOptions,
};

/** The fields that completions and gaps to fill have in common. */
export type LlamaServerGeneration = z.infer<z.ZodObject<typeof generationFields>>;

/** Adds an issue if the request gives two forms, or two values of one setting. */
function refineOptions(request: LlamaServerGeneration, context: z.RefinementCtx): void {
  const { grammar = "", json_schema: schema } = request;
  if (grammar !== "" && schema !== undefined)
    refuseField(context, "grammar", "grammar and json_schema exclude each other: give one of them");
}

/** The body of `POST /completion` and `POST /completions`. */
export const LlamaServerCompletionRequest = z
  .looseObject({ ...generationFields, prompt: promptField("prompt", completionsMax) }, bodyRule)
  .superRefine(refineOptions)
  .superRefine(refineSampling)
  .superRefine(({ prompt, n_cmpl, n = 1 }, context) => {
    if (prompt.length * (n_cmpl ?? n) > completionsMax)
      refuseField(context, "n_cmpl", `n_cmpl times the number of prompts must be at most ${completionsMax}`);
  })
  .meta({ id: "LlamaServerCompletionRequest" });
export type LlamaServerCompletionRequest = z.infer<typeof LlamaServerCompletionRequest>;

/** The body of `POST /slots/{id}`. */
export const LlamaServerSlotRequest = z
  .looseObject(
    {
      filename: optionalField(
        stringField("filename", { min: 1, max: 200 }),
        "The name of a file in the folder of --slot-save-path; required to save and to restore.",
      ),
      cache_salt: cacheSaltField,
    },
    bodyRule,
  )
  .meta({ id: "LlamaServerSlotRequest" });

/** Maximum number of other code pieces sent along with the file that has the gap. */
const extraMax = 1_000;
const extraRule = `input_extra must be an array of at most ${extraMax} objects with a text and a filename`;

/** The body of `POST /infill`. */
export const LlamaServerInfillRequest = z
  .looseObject(
    {
      ...generationFields,
      input_prefix: textField("input_prefix").describe("The text before the gap."),
      input_suffix: textField("input_suffix").describe("The text after the gap."),
      prompt: optionalField(textField("prompt"), "What the reply continues: the start of the gap's text."),
      input_extra: optionalField(
        boundedArray(
          z.looseObject(
            { text: textField("text"), filename: optionalField(stringField("filename", { max: 4_096 })) },
            extraRule,
          ),
          extraRule,
          { max: extraMax },
        ),
        "Other texts of the project. The first ones are left out if the context has no room for all.",
      ),
    },
    bodyRule,
  )
  .superRefine(refineOptions)
  .superRefine(refineSampling)
  .meta({ id: "LlamaServerInfillRequest" });
export type LlamaServerInfillRequest = z.infer<typeof LlamaServerInfillRequest>;

const anyModel = optionalField(modelField, "A model id from GET /v1/models; optional.");

/** The body of `POST /tokenize`. */
export const LlamaServerTokenizeRequest = z
  .looseObject(
    {
      model: anyModel,
      content: optionalField(mixedField("content"), "A text, or texts and token ids."),
      add_special: flag("add_special", "Adds the tokens that start (and end) a text for this model.", false),
      parse_special: flag("parse_special", "Parses special tokens in the text.", true),
      with_pieces: flag("with_pieces", "Returns each token as an object with its id and its text.", false),
    },
    bodyRule,
  )
  .meta({ id: "LlamaServerTokenizeRequest" });
export type LlamaServerTokenizeRequest = z.infer<typeof LlamaServerTokenizeRequest>;

/** The body of `POST /apply-template`. */
export const LlamaServerTemplateRequest = z
  .looseObject(
    {
      model: anyModel,
      messages: ChatMessages,
      ...toolFields,
      ...templateFields,
      add_generation_prompt: flag(
        "add_generation_prompt",
        "Whether the prompt ends with the start of the assistant's turn.",
        true,
      ),
    },
    bodyRule,
  )
  .superRefine(refineTools)
  .superRefine(refineContinuation)
  .meta({ id: "LlamaServerTemplateRequest" });
export type LlamaServerTemplateRequest = z.infer<typeof LlamaServerTemplateRequest>;

const normalizeRule = "embd_normalize must be 2 (Euclidean) or -1 (none)";

/** The body of `POST /embedding` and `POST /embeddings`. */
export const LlamaServerEmbeddingRequest = z
  .looseObject(
    {
      model: servedModelField,
      content: optionalField(
        promptField("content", embeddingInputsMax),
        "One text or several, as texts, token ids or both.",
      ),
      input: optionalField(promptField("input", embeddingInputsMax), "Another name for content."),
      embd_normalize: optionalField(
        z.union([z.literal(2), z.literal(-1)], normalizeRule),
        "2 scales each vector to length 1, -1 leaves it as the model computes it.",
        2,
      ),
      encoding_format: optionalField(
        z.literal("float", 'encoding_format must be "float"; POST /v1/embeddings also has base64'),
        "Must be float.",
        "float",
      ),
    },
    bodyRule,
  )
  .superRefine(({ content, input }, context) => {
    if (content === undefined && input === undefined)
      refuseField(context, "content", "give content or input");
    if (content !== undefined && input !== undefined)
      refuseField(context, "input", "input and content are two names of one field: give one of them");
  })
  .meta({ id: "LlamaServerEmbeddingRequest" });
export type LlamaServerEmbeddingRequest = z.infer<typeof LlamaServerEmbeddingRequest>;
