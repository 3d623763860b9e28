// The requests of Ollama's API that generate text or compute embeddings.
import { z } from "zod";

import {
  boundedParts,
  imageUrlLengthMax,
  messagesMax,
  nameField,
  partsMax,
  textField,
} from "../fields/content.ts";
import { embeddingInputsMax } from "../embeddings.ts";
import { flag, integerField, optionalField, refusedField, requestObject } from "../fields/field.ts";
import { ignoredField } from "../fields/ignored-fields.ts";
import { logprobFields, refineLogprobs } from "../fields/logprobs.ts";
import { bodyRule, servedModelField } from "../fields/request-fields.ts";
import { jsonSchemaField } from "../fields/response-format.ts";
import { boundedArray } from "../fields/size-precheck.ts";
import { toolDescriptionField, toolNameField, toolList } from "../fields/tools.ts";
import { OllamaOptions } from "./options.ts";

const keepAliveRule =
  'keep_alive must be seconds, or a duration such as "5m" or "1h30m"; a negative one means forever';
const durationPattern = /^[+-]?(?:0|(?:\d{1,9}(?:\.\d{1,9})?(?:ns|us|µs|ms|s|m|h))+)$/;

const keepAliveField = optionalField(
  z.union(
    [z.number(keepAliveRule), z.string(keepAliveRule).regex(durationPattern, keepAliveRule)],
    keepAliveRule,
  ),
  "How long the model stays in memory after this request: seconds, or a duration such as 5m. Needs the right to manage models.",
);

const imagesRule = `images must be an array of at most ${partsMax} images in base64`;
const imagesField = optionalField(
  boundedArray(z.string(imagesRule).min(1, imagesRule).max(imageUrlLengthMax, imagesRule), imagesRule, {
    max: partsMax,
  }),
  "Images in base64.",
);

const formatRule = 'format must be "json" or a JSON schema';

const generationFields = {
  model: servedModelField,
  stream: flag("stream", "Sends the reply while it is generated, one JSON object per line.", true),
  format: optionalField(
    z.union([z.enum(["json", ""], formatRule), jsonSchemaField("format")], formatRule),
    "The reply is JSON, or JSON of this schema; the empty string means text.",
  ),
  options: optionalField(OllamaOptions, "How to generate."),
  keep_alive: keepAliveField,
  think: optionalField(
    z.union(
      [z.boolean(), z.enum(["low", "medium", "high", "max"])],
      'think must be true, false, "low", "medium", "high" or "max"',
    ),
    "Whether, or how much, the model thinks before it replies; the default depends on the chat template.",
  ),
  ...logprobFields,
  truncate: ignoredField("a prompt that is longer than the context is an error", [false]),
  shift: ignoredField("the server's --context-overflow decides", [false]),
  _debug_render_only: optionalField(
    z.literal(false, "_debug_render_only is not supported; use POST /v1/chat/completions/render"),
    "Refused unless it is false.",
  ),
};

const ToolCall = z.looseObject(
  {
    id: optionalField(nameField("id")),
    function: z.looseObject(
      {
        name: nameField("name"),
        arguments: z.record(z.string(), z.unknown(), "arguments must be an object"),
      },
      "function must be an object with a name and arguments",
    ),
  },
  "a tool call must be an object with a function",
);

/** Maximum number of calls per message. */
const callsMax = 128;

const OllamaMessage = requestObject("OllamaMessage", {
  role: z.enum(["system", "user", "assistant", "tool"], "role must be system, user, assistant or tool"),
  content: optionalField(textField("content")),
  thinking: optionalField(textField("thinking")),
  images: imagesField,
  tool_calls: optionalField(
    boundedArray(ToolCall, `tool_calls must be an array of at most ${callsMax} calls`, { max: callsMax }),
  ),
  tool_name: optionalField(nameField("tool_name")),
  tool_call_id: optionalField(nameField("tool_call_id")),
});
export type OllamaMessage = z.infer<typeof OllamaMessage>;

const OllamaTool = z
  .looseObject(
    {
      type: optionalField(z.literal("function", 'type must be "function"')),
      function: z.looseObject(
        {
          name: toolNameField,
          description: toolDescriptionField,
          parameters: optionalField(jsonSchemaField("parameters")),
        },
        "function must be an object with a name",
      ),
    },
    "a tool must be an object",
  )
  .meta({ id: "OllamaTool" });

const messagesRule = `messages must be an array of at most ${messagesMax} messages`;

/** The body of `POST /api/chat`. Without messages, the model is only loaded or unloaded. */
export const OllamaChatRequest = z
  .looseObject(
    {
      ...generationFields,
      messages: optionalField(
        boundedParts(z.array(OllamaMessage, messagesRule).max(messagesMax, messagesRule), "messages"),
        "The conversation. Without one, the model is only loaded, or unloaded if keep_alive is 0.",
      ),
      tools: optionalField(toolList(OllamaTool), "Functions that the model may call."),
    },
    bodyRule,
  )
  .superRefine(refineLogprobs)
  .meta({ id: "OllamaChatRequest" });
export type OllamaChatRequest = z.infer<typeof OllamaChatRequest>;

const contextRule = "context is not supported; send the conversation to /api/chat";

/** The body of `POST /api/generate`. Without a prompt, the model is only loaded or unloaded. */
export const OllamaGenerateRequest = z
  .looseObject(
    {
      ...generationFields,
      prompt: optionalField(
        textField("prompt"),
        "Without one, the model is only loaded, or unloaded if keep_alive is 0.",
      ),
      suffix: optionalField(textField("suffix"), "The text after the reply; needs a model that fills gaps."),
      images: imagesField,
      system: optionalField(textField("system"), "The system message."),
      raw: flag("raw", "Takes the prompt as it is, without the chat template.", false),
      context: optionalField(
        z.array(z.unknown(), contextRule).max(0, contextRule),
        `Refused: ${contextRule}.`,
      ),
      template: optionalField(
        z.literal("", "template is not supported; the model's own is used"),
        "Refused: the model's own is used.",
      ),
      width: refusedField("images are not generated"),
      height: refusedField("images are not generated"),
      steps: refusedField("images are not generated"),
    },
    bodyRule,
  )
  .superRefine((request, context) => {
    refineLogprobs(request, context);
    const { raw = false, suffix = "", system = "", images = [] } = request;
    const isPlain = raw || suffix !== "";
    const refused = [...(system === "" ? [] : ["system"]), ...(images.length === 0 ? [] : ["images"])];
    if (!isPlain) return;
    for (const field of refused)
      context.addIssue({
        code: "custom",
        path: [field],
        message: `${field} needs the chat template, which raw and suffix leave out`,
      });
  })
  .meta({ id: "OllamaGenerateRequest" });
export type OllamaGenerateRequest = z.infer<typeof OllamaGenerateRequest>;

const inputRule = `input must be a text or an array of at most ${embeddingInputsMax} texts`;

/** The body of `POST /api/embed`. */
export const OllamaEmbedRequest = requestObject("OllamaEmbedRequest", {
  model: servedModelField,
  input: optionalField(
    z.union(
      [textField("input"), boundedArray(textField("input"), inputRule, { max: embeddingInputsMax })],
      inputRule,
    ),
    "A text or several. Without one, the model is only loaded.",
  ),
  dimensions: optionalField(
    integerField("dimensions", { min: 0, max: 1_048_576 }),
    "Shortens each vector to this length; 0 means its own length.",
  ),
  truncate: flag(
    "truncate",
    "Cuts a text that is longer than the model takes; otherwise it is an error.",
    true,
  ),
  options: optionalField(OllamaOptions, "Only num_ctx is read."),
  keep_alive: keepAliveField,
});
export type OllamaEmbedRequest = z.infer<typeof OllamaEmbedRequest>;

/** The body of `POST /api/embeddings`, the older route for one text. */
export const OllamaEmbeddingsRequest = requestObject("OllamaEmbeddingsRequest", {
  model: servedModelField,
  prompt: optionalField(textField("prompt"), "The text. Without one, the model is only loaded."),
  options: optionalField(OllamaOptions, "Only num_ctx is read."),
  keep_alive: keepAliveField,
});
export type OllamaEmbeddingsRequest = z.infer<typeof OllamaEmbeddingsRequest>;
