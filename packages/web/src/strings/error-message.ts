// The message for an error: a sentence for its code in the user's language, with the server's own sentence as the detail.
import { ApiError, ConnectionError, StreamError, TimeoutError } from "@ingle/client";
import type { WireErrorCode } from "@ingle/protocol";

import { texts } from "./language.ts";

type ErrorCode = WireErrorCode | "timeout" | "stream_incomplete" | "unreachable";

/** What an error means, by its code. */
export const errorTexts = texts({
  invalid_request: ["The server rejected this request.", "Der Server hat diese Anfrage abgelehnt."],
  invalid_json: ["The server could not read this request.", "Der Server konnte diese Anfrage nicht lesen."],
  context_length_exceeded: [
    "This is too long for the model's context.",
    "Das ist zu lang für den Kontext des Modells.",
  ],
  image_invalid: ["An image could not be read.", "Ein Bild konnte nicht gelesen werden."],
  document_invalid: ["A document could not be read.", "Ein Dokument konnte nicht gelesen werden."],
  image_not_supported: ["This model cannot read images.", "Dieses Modell kann keine Bilder lesen."],
  audio_invalid: ["An audio could not be read.", "Eine Tonaufnahme konnte nicht gelesen werden."],
  audio_not_supported: ["This model takes no audio.", "Dieses Modell nimmt keine Tonaufnahmen."],
  generation_not_supported: ["This model cannot generate text.", "Dieses Modell kann keinen Text erzeugen."],
  embeddings_not_supported: [
    "This model does not produce embeddings.",
    "Dieses Modell liefert keine Embeddings.",
  ],
  reranking_not_supported: ["This model does not rerank.", "Dieses Modell kann nicht neu ordnen."],
  unauthorized: ["The server requires a valid API key.", "Der Server verlangt einen gültigen API-Schlüssel."],
  forbidden: ["You do not have permission to do this.", "Dazu fehlt Ihnen die Berechtigung."],
  not_found: ["Not found. It may have been removed.", "Nicht gefunden. Vielleicht wurde es entfernt."],
  model_not_found: ["The server does not have this model.", "Der Server hat dieses Modell nicht."],
  method_not_allowed: ["The server does not support this.", "Das unterstützt der Server nicht."],
  cancelled: [
    "This request was cancelled on the Server page.",
    "Diese Anfrage wurde auf der Seite „Server“ abgebrochen.",
  ],
  payload_too_large: ["This is too large for the server.", "Das ist zu groß für den Server."],
  unsupported_media_type: [
    "The server does not accept this format.",
    "Dieses Format nimmt der Server nicht an.",
  ],
  overloaded: [
    "The server is busy. Try again shortly.",
    "Der Server ist ausgelastet. Versuchen Sie es gleich noch einmal.",
  ],
  rate_limited: [
    "Too many requests. Try again in a minute.",
    "Zu viele Anfragen. Versuchen Sie es in einer Minute noch einmal.",
  ],
  client_closed: ["The connection was closed.", "Die Verbindung wurde geschlossen."],
  internal: ["Something went wrong on the server.", "Im Server ist etwas schiefgegangen."],
  engine_failed: [
    "The model could not be loaded or could not answer.",
    "Das Modell konnte nicht geladen werden oder nicht antworten.",
  ],
  hub_unreachable: [
    "The model hub did not answer, or refused. Installed models still work.",
    "Der Model Hub hat nicht geantwortet oder lehnt ab. Installierte Modelle funktionieren weiter.",
  ],
  not_enabled: ["The server was started without this.", "Der Server wurde ohne diese Funktion gestartet."],
  disk_full: ["The server's disk is full.", "Die Festplatte des Servers ist voll."],
  model_loading: ["The model is still loading.", "Das Modell wird noch geladen."],
  out_of_memory: ["There is not enough memory for this.", "Dafür reicht der Speicher nicht."],
  shutting_down: ["The server is shutting down.", "Der Server wird gerade beendet."],
  engine_crashed: [
    "The model crashed and is starting again. Try again.",
    "Das Modell ist abgestürzt und startet neu. Versuchen Sie es noch einmal.",
  ],
  worker_lost: [
    "A worker that holds a part of this model was lost.",
    "Ein anderer Rechner, der für dieses Modell mitrechnet, ist ausgefallen.",
  ],
  worker_unreachable: [
    "A worker for this model cannot be reached.",
    "Ein anderer Rechner, der für dieses Modell mitrechnet, ist nicht erreichbar.",
  ],
  worker_refused: [
    "A worker for this model refused the server.",
    "Ein anderer Rechner, der für dieses Modell mitrechnen soll, lehnt ab.",
  ],
  timeout: ["This took too long.", "Das hat zu lange gedauert."],
  stream_incomplete: ["The answer was cut off.", "Die Antwort ist abgebrochen."],
  unreachable: ["Ingle cannot be reached.", "Ingle ist nicht erreichbar."],
} satisfies Record<ErrorCode, readonly [string, string]>);

export interface ErrorMessage {
  text: string;
  /** The original message; null where it is the text itself. */
  detail: string | null;
}

interface StoredError {
  code: string | null;
  message: string;
}

/** The message of a stored error. Without a sentence for its code, the stored message is the text. */
export function storedErrorMessage({ code, message }: StoredError): ErrorMessage {
  const sentences: Readonly<Record<string, string>> = errorTexts;
  const text = code !== null && Object.hasOwn(sentences, code) ? sentences[code] : undefined;
  return text === undefined ? { text: message, detail: null } : { text, detail: message };
}

/** The message of anything that was thrown. */
export function errorMessage(error: unknown): ErrorMessage {
  return storedErrorMessage({ code: errorCode(error), message: errorText(error) });
}

/** The code under which the page stores an error and finds its sentence; null if it has none. */
export function errorCode(error: unknown): string | null {
  if (ApiError.is(error) || StreamError.is(error)) return error.code;
  if (ConnectionError.is(error)) return "unreachable";
  return TimeoutError.is(error) ? "timeout" : null;
}

/** The error's own message, in English. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
