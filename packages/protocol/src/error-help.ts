// What each error code means and what its receiver can do, in Markdown: the rows of docs/errors.md.
import type { WireErrorCode } from "./errors.ts";

export const errorHelp = {
  invalid_request: {
    means:
      "A field is missing, invalid, or contradicts another one; the body is not valid UTF-8, or has a key `__proto__`; a grammar or " +
      "schema is invalid or too large; or the model's chat template refuses the conversation, or exceeds its " +
      "[limits](http-api.md#limits). `param` names the field.",
    advice: "Correct the field or leave it out. The rules are in [http-api.md](http-api.md).",
  },
  invalid_json: { means: "The body is not JSON.", advice: "Send one JSON object, in UTF-8." },
  context_length_exceeded: {
    means:
      "The prompt, or one of the texts for `/v1/embeddings`, has `n_prompt_tokens` tokens, but only `n_ctx` fit. Nothing is ever cut " +
      "off silently.",
    advice:
      "Shorten or drop older messages, or start the server with a larger `--ctx` or with `--context-overflow shift`, which drops " +
      "the oldest ones itself.",
  },
  image_invalid: {
    means: "An image is not a data URL, or its data is not an image.",
    advice: "Send `data:<mime type>;base64,<data>`.",
  },
  document_invalid: {
    means:
      "A document is not base64; or it is neither text nor a PDF; or the PDF is damaged, password-protected, too large, or has no text. " +
      "The message says which.",
    advice: "Send a PDF with text, or text. Send scanned pages as images to a model that reads images.",
  },
  image_not_supported: {
    means: "The request contains an image, but the model reads only text.",
    advice: "Leave the image out, or use a model whose `input_modalities` include `image`.",
  },
  audio_invalid: {
    means:
      "An audio is not base64, is not a WAV, FLAC or MP3 file or is damaged, is shorter than a tenth of a second, or has more channels " +
      "or another sample rate than [supported](audio.md#files-and-limits).",
    advice: "Convert it, for example with `ffmpeg -i in.m4a -ac 1 -ar 16000 out.wav`.",
  },
  audio_not_supported: {
    means: "The request contains an audio, but the model takes none.",
    advice: "Use a model whose `input_modalities` include `audio`.",
  },
  generation_not_supported: {
    means: "The model does not generate text: it is an encoder, for embeddings.",
    advice: "Use `/v1/embeddings`, or a model that generates.",
  },
  embeddings_not_supported: {
    means:
      "The model cannot compute embeddings: it is a reranker, or its file does not say how to pool tokens. The message says " +
      "which.",
    advice: "Use an embedding model, or one that generates.",
  },
  reranking_not_supported: {
    means: "The model does not score pairs of texts: it is not a reranker, or its file has no classifier.",
    advice: "Use a reranker.",
  },
  unauthorized: {
    means: "The server requires a key, and the request has none or a wrong one.",
    advice: "Send `Authorization: Bearer <key>` or `x-api-key: <key>`.",
  },
  forbidden: {
    means:
      "The request's `Host` or `Origin` is not allowed, or it tries to manage models and " +
      "[may not](operations.md#who-may-do-what).",
    advice:
      "The message names the flag and value that allow it: `--allow-host`, `--allow-origin`, or a key of `--admin-key`.",
  },
  not_found: {
    means: "The path does not exist.",
    advice: "Look the path up in [http-api.md](http-api.md); a missing `/v1` is the usual reason.",
  },
  model_not_found: {
    means: "The server has no model with this id.",
    advice: "Take an id from `GET /v1/models`.",
  },
  method_not_allowed: {
    means: "The path exists, but not for this method.",
    advice: "Use a method that the `Allow` header names.",
  },
  cancelled: {
    means: "An administrator of the server [cancelled](http-api.md#single-requests) this request.",
    advice: "Ask them before you send it again.",
  },
  payload_too_large: {
    means: "The body, or an image or audio in it, exceeds the server's limit.",
    advice: "Send less, or raise the limit on the server.",
  },
  unsupported_media_type: {
    means: "The body is not declared as JSON, or is compressed in a way that the server does not know.",
    advice:
      "Send `Content-Type: application/json`. Compress with one of the codings in the response's `Accept-Encoding`, or not at all.",
  },
  overloaded: {
    means: "The queue of waiting requests is full.",
    advice: "Try again after `Retry-After` seconds.",
  },
  rate_limited: {
    means:
      "This key, or this address where there are no keys, sent more requests in this minute than `--rate-limit` allows; or too many " +
      "wrong keys came from this address.",
    advice: "Try again after `Retry-After` seconds, with the right key.",
  },
  client_closed: {
    means:
      "The client disconnected before the response was complete, or stopped reading it. Only appears in the server's log.",
    advice: "Nothing: the work was stopped.",
  },
  internal: { means: "A bug in the server.", advice: "Report it with the response's `x-request-id`." },
  engine_failed: {
    means:
      "The engine could not compute this reply, or the model could not be loaded; the message says why. The server keeps " +
      "running.",
    advice:
      "Try again, after `Retry-After` seconds if that header is there. If it happens again, report it with the `x-request-id`.",
  },
  hub_unreachable: {
    means:
      "The model hub or the npm registry cannot be reached, answers with an error, wants another token, or does not answer like one. The " +
      "message says which. Installed models still work.",
    advice: "Check the network, `HTTPS_PROXY`, `HF_ENDPOINT` and `HF_TOKEN`, and try again.",
  },
  not_enabled: {
    means:
      "The route needs a flag that the server was not started with, or a folder that another server uses or that cannot be written. The " +
      "message names it.",
    advice: "Restart the server with the flag, or with a folder of its own.",
  },
  disk_full: {
    means:
      "The disk is full where the server keeps responses, files or models, or its files have reached `--batch-store-size`; the message " +
      "names it. What was stored before is unchanged.",
    advice: "Free space on that disk, delete files, or send `store: false`. `x-should-retry` is `false`.",
  },
  model_loading: {
    means: "The model is being loaded; `progress` is its progress.",
    advice: "Try again after `Retry-After` seconds.",
  },
  out_of_memory: {
    means:
      "There is not enough memory to load this model, or to compute this request. For a model that cannot fit, the message has the " +
      "numbers and what would fit. The server keeps running.",
    advice:
      "Try again later; use a smaller model, a smaller `--ctx` or `--parallel`, or a larger `--memory-budget`.",
  },
  shutting_down: {
    means: "The server is stopping.",
    advice: "Try again after `Retry-After` seconds, when it is back.",
  },
  engine_crashed: {
    means:
      "The process that computes this model ended: a bug in the engine, a fault of the GPU, or the system killed it because memory ran " +
      "out. Replies end here that had begun to arrive; the others are computed again. The server keeps running, starts the process " +
      "again, and logs where its [crash report](operations.md#when-an-engine-crashes) is.",
    advice:
      "Try again: the request waits until the process is back. If it happens again, report it with the crash report.",
  },
  worker_lost: {
    means:
      "The connection to a [worker](deployment.md#one-model-over-several-hosts) that holds a part of the model was lost; the message " +
      "names it and the reason. Running replies end here. The server keeps running, and loads the model again when the worker is " +
      "back.",
    advice: "Try again after `Retry-After` seconds.",
  },
  worker_unreachable: {
    means: "A worker does not respond.",
    advice: "Start `ingle worker` there, open its port, and check `--rpc`; the server retries by itself.",
  },
  worker_refused: {
    means:
      "A worker refused the connection: it has another key, another version of Ingle, or serves another server. The message says " +
      "which.",
    advice: "Pair the machines again with `ingle worker --pair`, or install the same version on both.",
  },
} as const satisfies Record<WireErrorCode, { means: string; advice: string }>;
