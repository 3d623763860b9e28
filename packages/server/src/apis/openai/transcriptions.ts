// POST /v1/audio/transcriptions: writes down a recording. It is a chat request with the recording and an instruction, for any model
// that takes audio.
import {
  Transcription,
  TranscriptionEvent,
  TranscriptionRequest,
  type TranscriptionUsage,
} from "@ingle/protocol";
import type { Generation, GenerationResult } from "@ingle/engine";
import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { readForm } from "../../bodies/form-body.ts";
import { addGenerationRoute } from "../../generation/add-generation-route.ts";
import type { InferenceOptions } from "../../generation/inference.ts";
import { dataEvent } from "../../http/event-stream.ts";
import { audioErrors, generationErrors } from "../../openapi/operation.ts";
import { WireError } from "../../wire-error.ts";
import { fieldNames } from "../../generation/engine-fields.ts";
import type { UnreadRequest } from "../../content/content-parts.ts";
import type { GenerationRoute } from "../../generation/generation-route.ts";
import { toUsage } from "../../generation/usage.ts";

const transcriptions: GenerationRoute<TranscriptionRequest> = {
  path: "/v1/audio/transcriptions",
  body: TranscriptionRequest,
  operation: {
    summary: "The words of a recording, whole or streamed",
    description:
      "A chat with the recording and an instruction to write it down. The body is a form with a file; response_format text returns plain text.",
    bodyType: "multipart/form-data",
    responses: { 200: Transcription },
    event: TranscriptionEvent,
    errors: [...generationErrors, ...audioErrors],
  },
  conventions: { fieldNames },
  idPrefix: "transcription-",
  tracedAs: "chat",
  toEngine: (body) => ({ prompts: [toRequest(body)] }),
  respond: ({ body, generation }) => ({
    whole: async () => {
      const result = await generation;
      if (body.response_format === "text") return `${result.text}\n`;
      return { text: result.text, usage: toTranscriptionUsage(result) } satisfies Transcription;
    },
    events: () => events(generation),
  }),
};

/** A plugin of its own, because forms are read here only: elsewhere, a body is JSON. */
export async function transcriptionRoutes(app: FastifyInstance, options: InferenceOptions): Promise<void> {
  app.addContentTypeParser("multipart/form-data", async (request: FastifyRequest, payload: Readable) =>
    readForm(request, payload, TranscriptionRequest),
  );
  addGenerationRoute(app, transcriptions, options);
}

function toRequest(body: TranscriptionRequest): UnreadRequest {
  const audio = { type: "audio" as const, data: body.file, place: "file", param: "file" };
  const instruction = { type: "text" as const, text: instructionFor(body) };
  return {
    messages: [{ role: "user", content: [audio, instruction] }],
    temperature: body.temperature ?? 0,
    thinking: false,
  };
}

function instructionFor({ language, prompt }: TranscriptionRequest): string {
  const sentences = [
    "Transcribe this recording word for word. Reply with the transcript only.",
    ...(language === undefined ? [] : [`The language that is spoken is ${languageName(language)}.`]),
    ...(prompt === undefined || prompt === "" ? [] : [`Words and context that may help: ${prompt}`]),
  ];
  return sentences.join("\n");
}

/** Throws `invalid_request` for a text that is no language tag. */
function languageName(language: string): string {
  try {
    return new Intl.DisplayNames(["en"], { type: "language" }).of(language) ?? language;
  } catch (cause) {
    const message = "language must be a language tag such as en, de or pt-BR";
    throw new WireError("invalid_request", message, { param: "language", cause });
  }
}

async function* events(generation: Generation): AsyncGenerator<string, void, undefined> {
  const event = (value: TranscriptionEvent): string => dataEvent(JSON.stringify(value));
  for await (const { text } of generation)
    if (text !== "") yield event({ type: "transcript.text.delta", delta: text });
  const result = await generation;
  yield event({ type: "transcript.text.done", text: result.text, usage: toTranscriptionUsage(result) });
}

function toTranscriptionUsage(result: GenerationResult): TranscriptionUsage {
  const { prompt_tokens, completion_tokens, total_tokens, prompt_tokens_details } = toUsage([result]);
  const { audio_tokens = 0 } = prompt_tokens_details;
  return {
    type: "tokens",
    input_tokens: prompt_tokens,
    input_token_details: { audio_tokens, text_tokens: prompt_tokens - audio_tokens },
    output_tokens: completion_tokens,
    total_tokens,
  };
}
