// POST /v1/audio/transcriptions: the fields of the form, and the response, whole or as events.
import { z } from "zod";

import { optionalField, refusedField, responseObject, stringField } from "../fields/field.ts";
import { ignoredField } from "../fields/ignored-fields.ts";
import { bodyRule, servedModelField } from "../fields/request-fields.ts";

/** Maximum length of a prompt with the recording's words, in UTF-16 units: a page. */
export const transcriptionPromptLengthMax = 8192;

const fileRule = "file must be an audio file, sent as a part with a file name of a multipart/form-data body";
const formatRule =
  "response_format must be json or text: the model writes text without times, so there are no subtitles and no verbose_json";
const temperatureRule = "temperature must be a number from 0 to 2";

/** The body of `POST /v1/audio/transcriptions`, sent as `multipart/form-data`: every field but the file is a text. */
export const TranscriptionRequest = z
  .looseObject(
    {
      file: z
        .custom<Uint8Array>((bytes) => bytes instanceof Uint8Array, fileRule)
        .meta({ type: "string", format: "binary", description: "A WAV, FLAC or MP3 file." }),
      model: servedModelField,
      language: optionalField(
        stringField("language", { min: 2, max: 35 }),
        "The language that is spoken, such as en or pt-BR. The model is told its name.",
      ),
      prompt: optionalField(
        stringField("prompt", { max: transcriptionPromptLengthMax }),
        "Names, words or an earlier part of the recording, which the model is told.",
      ),
      response_format: optionalField(
        z.enum(["json", "text"], formatRule),
        "json, or text for a body of plain text.",
        "json",
      ),
      temperature: optionalField(
        z.coerce.number(temperatureRule).min(0, temperatureRule).max(2, temperatureRule),
        "How much chance decides each word.",
        0,
      ),
      stream: optionalField(
        z.enum(["true", "false"], "stream must be true or false").transform((text) => text === "true"),
        "Sends the text while it is generated, as server-sent events.",
        "false",
      ),
      timestamp_granularities: refusedField("the model writes text without times"),
      include: refusedField("log probabilities of transcriptions are not supported"),
      known_speaker_names: refusedField("speakers are not told apart"),
      chunking_strategy: ignoredField("the model's encoder cuts the recording into windows"),
    },
    bodyRule,
  )
  .meta({ id: "TranscriptionRequest" });
/** A checked request. */
export type TranscriptionRequest = z.infer<typeof TranscriptionRequest>;

/** The tokens of a transcription. */
export const TranscriptionUsage = responseObject("TranscriptionUsage", {
  type: z.literal("tokens"),
  input_tokens: z.int(),
  input_token_details: z.object({
    audio_tokens: z.int().describe("Tokens that stand for the recording."),
    text_tokens: z.int().describe("Tokens of the instruction and of the chat template."),
  }),
  output_tokens: z.int(),
  total_tokens: z.int(),
});
export type TranscriptionUsage = z.infer<typeof TranscriptionUsage>;

/** The response with `response_format: json`. */
export const Transcription = responseObject("Transcription", {
  text: z.string(),
  usage: TranscriptionUsage,
});
export type Transcription = z.infer<typeof Transcription>;

/** An event of a streamed transcription. */
export const TranscriptionEvent = z.union([
  responseObject("TranscriptTextDelta", {
    type: z.literal("transcript.text.delta"),
    delta: z.string(),
  }),
  responseObject("TranscriptTextDone", {
    type: z.literal("transcript.text.done"),
    text: z.string(),
    usage: TranscriptionUsage,
  }),
]);
export type TranscriptionEvent = z.infer<typeof TranscriptionEvent>;
