// The route of transcriptions, whose body is a form with a file.
import type { Readable } from "node:stream";
import { TranscriptionRequest } from "@ingle/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { readForm } from "../../bodies/form-body.ts";
import { generationRoute } from "../generation-route.ts";
import type { InferenceOptions } from "../inference.ts";
import { transcriptions } from "./protocol.ts";

export interface TranscriptionOptions extends InferenceOptions {
  /** What comes before `/audio/transcriptions`. */
  prefixes: readonly ("/v1" | "")[];
}

/** Forms are read here only: elsewhere, a body is JSON. */
export async function transcriptionRoutes(
  app: FastifyInstance,
  { prefixes, ...options }: TranscriptionOptions,
): Promise<void> {
  app.addContentTypeParser("multipart/form-data", async (request: FastifyRequest, payload: Readable) =>
    readForm(request, payload, TranscriptionRequest),
  );
  for (const prefix of prefixes)
    await generationRoute({ ...transcriptions, path: `${prefix}/audio/transcriptions` })(app, options);
}
