// Texts of the library: models on this machine, the model hub, and jobs.
import { say, texts } from "./language.ts";

export const libraryText = texts({
  installedTab: (count: string) => say(`On this machine (${count})`, `Auf diesem Rechner (${count})`),
  hubTab: ["Model hub", "Model Hub"],
  views: ["Where to look for models", "Wo Modelle gesucht werden"],
  import: ["Import…", "Importieren …"],
  summaryMemory: (used: string, budget: string) =>
    say(`Models use ${used} of ${budget} memory.`, `Modelle belegen ${used} von ${budget} Arbeitsspeicher.`),
  summaryMemoryUnbounded: (used: string) =>
    say(`Models use ${used} memory.`, `Modelle belegen ${used} Arbeitsspeicher.`),
  summaryDisk: (free: string) => say(`${free} of disk space free.`, `${free} Festplattenplatz frei.`),
  filter: ["Filter models", "Modelle filtern"],
  noneMatch: ["No model on this machine matches.", "Kein Modell auf diesem Rechner passt dazu."],
  emptyTitle: ["No models yet", "Noch keine Modelle"],
  emptyText: [
    "Download one from the model hub, or import a file you already have.",
    "Laden Sie eines aus dem Model Hub herunter oder importieren Sie eine vorhandene Datei.",
  ],
  emptyAction: ["Browse the model hub", "Im Model Hub stöbern"],
  installedList: ["Models on this machine", "Modelle auf diesem Rechner"],
  status: {
    available: ["On disk", "Auf der Festplatte"],
    preparing: ["Preparing", "Wird vorbereitet"],
    loading: ["Loading", "Wird geladen"],
    loaded: ["Loaded", "Geladen"],
    restarting: ["Restarting", "Startet neu"],
    draining: ["Finishing requests", "Beendet Anfragen"],
    unloading: ["Unloading", "Wird entladen"],
    failed: ["Failed to load", "Laden fehlgeschlagen"],
    closed: ["Closed", "Geschlossen"],
  },
  capability: {
    vision: ["Vision", "Bilder"],
    audio: ["Audio", "Ton"],
    tools: ["Tools", "Werkzeuge"],
    thinking: ["Thinking", "Denken"],
    embeddings: "Embeddings",
  },
  capabilityHint: {
    vision: ["Reads images", "Liest Bilder"],
    audio: ["Takes audio", "Nimmt Tonaufnahmen"],
    tools: ["Calls tools", "Ruft Werkzeuge auf"],
    thinking: ["Thinks before it answers", "Denkt nach, bevor es antwortet"],
    embeddings: ["Computes embeddings; cannot chat", "Liefert Embeddings; kann nicht chatten"],
  },
  format: {
    gguf: "GGUF",
    mlx: "MLX",
  },
  context: (tokens: string) => say(`${tokens} tokens of context`, `${tokens} Token Kontext`),
  kvBits: (keys: string, values: string) =>
    keys === values
      ? say(`KV cache ${keys} bits`, `KV-Cache mit ${keys} Bit`)
      : say(`KV cache ${keys} and ${values} bits`, `KV-Cache mit ${keys} und ${values} Bit`),
  inMemory: (bytes: string) => say(`${bytes} in memory`, `${bytes} im Speicher`),
  runningNow: (count: number) =>
    count === 1 ? say("1 request", "1 Anfrage") : say(`${count} requests`, `${count} Anfragen`),
  lastUsed: (when: string) => say(`Used ${when}`, `Benutzt ${when}`),
  neverUsed: ["Not used yet", "Noch nicht benutzt"],
  pinned: ["Pinned", "Angeheftet"],
  pinnedHint: [
    "Stays in memory even when it is idle or other models need the memory.",
    "Bleibt im Speicher, auch wenn es nicht benutzt wird oder andere Modelle den Platz brauchen.",
  ],
  startChat: (model: string) => say(`Chat with ${model}`, `Mit ${model} chatten`),
  load: ["Load", "Laden"],
  loadOptions: ["Load…", "Laden …"],
  unload: ["Unload", "Entladen"],
  pin: ["Pin", "Anheften"],
  unpin: ["Unpin", "Lösen"],
  names: ["Names…", "Namen …"],
  settings: ["Settings…", "Einstellungen …"],
  settingsTitle: (model: string) => say(`Settings of ${model}`, `Einstellungen von ${model}`),
  settingsText: [
    "They stay with the model over restarts, in the app and in `ingle serve`. Empty fields follow the server.",
    "Sie bleiben beim Modell, auch nach einem Neustart, in der App und in `ingle serve`. Leere Felder folgen dem Server.",
  ],
  settingsSave: ["Save", "Speichern"],
  settingsThinking: ["Thinking", "Nachdenken"],
  settingsThinkingChoice: {
    usual: ["As usual", "Wie üblich"],
    on: ["On", "An"],
    off: ["Off", "Aus"],
  },
  quantize: ["Quantize…", "Quantisieren …"],
  remove: ["Remove…", "Entfernen …"],
  unloadTitle: (model: string) => say(`Unload ${model}?`, `${model} entladen?`),
  unloadText: (count: number) =>
    count === 1
      ? say(
          "One request is using it. It is unloaded when that request is done.",
          "Eine Anfrage benutzt es. Es wird entladen, sobald sie fertig ist.",
        )
      : say(
          `${count} requests are using it. It is unloaded when they are done.`,
          `${count} Anfragen benutzen es. Es wird entladen, sobald sie fertig sind.`,
        ),
  removeTitle: (model: string) => say(`Remove ${model}?`, `${model} entfernen?`),
  removeText: (bytes: string) =>
    say(
      `This deletes its files in Ingle's models folder and frees up to ${bytes}. Your chats are kept.`,
      `Seine Dateien im Modellordner von Ingle werden gelöscht; das gibt bis zu ${bytes} frei. Ihre Chats bleiben erhalten.`,
    ),
  removeTextImported: [
    "This removes it from the library. It was imported, so its file stays where it is. Your chats are kept.",
    "Es wird aus der Bibliothek entfernt. Da es importiert wurde, bleibt die Datei, wo sie ist. Ihre Chats bleiben erhalten.",
  ],
  removeTextUnknown: [
    "This deletes its files in Ingle's models folder. Your chats are kept.",
    "Seine Dateien im Modellordner von Ingle werden gelöscht. Ihre Chats bleiben erhalten.",
  ],
  removeAction: ["Remove", "Entfernen"],
  removed: (model: string, bytes: string) =>
    say(`${model} was removed; ${bytes} freed.`, `${model} wurde entfernt; ${bytes} wurden frei.`),
  removedOnly: (model: string) =>
    say(
      `${model} was removed from the library. Its file was kept.`,
      `${model} wurde aus der Bibliothek entfernt. Die Datei bleibt erhalten.`,
    ),
  search: ["Search the model hub", "Im Model Hub suchen"],
  searchPlaceholder: ["For example “qwen coder” or “lfm2”", "Zum Beispiel „qwen coder“ oder „lfm2“"],
  searchAction: ["Search", "Suchen"],
  results: (count: number) =>
    count === 1 ? say("1 repository", "1 Repository") : say(`${count} repositories`, `${count} Repositorys`),
  resultsList: ["Matching repositories", "Passende Repositorys"],
  noResults: [
    "No repositories match. Search for GGUF models by name, author or size, such as “llama 3b”.",
    "Keine passenden Repositorys. Suchen Sie GGUF-Modelle nach Name, Autor oder Größe, etwa „llama 3b“.",
  ],
  hubIntroTitle: ["Find a model", "Ein Modell finden"],
  hubIntroText: [
    "Search by name. Each result shows whether it fits this machine before you download anything.",
    "Suchen Sie nach dem Namen. Jeder Treffer zeigt, ob das Modell auf diesen Rechner passt, bevor Sie etwas herunterladen.",
  ],
  hubUnreachableTitle: ["The model hub cannot be reached", "Der Model Hub ist nicht erreichbar"],
  hubUnreachableText: [
    "Models on this machine still work.",
    "Die Modelle auf diesem Rechner funktionieren weiterhin.",
  ],
  downloads: (count: string) => say(`${count} downloads`, `${count} Downloads`),
  likes: (count: string) => say(`${count} likes`, `${count} Likes`),
  gated: ["Terms to accept", "Bedingungen annehmen"],
  gatedText: [
    "Its authors share it only with people who accept their terms. Accept them on the hub, then start Ingle with HF_TOKEN set to an access token of your account.",
    "Die Autoren geben es nur an Personen weiter, die ihre Bedingungen annehmen. Nehmen Sie sie im Hub an und starten Sie Ingle dann mit einem Zugriffstoken Ihres Kontos in HF_TOKEN.",
  ],
  license: ["License", "Lizenz"],
  architecture: ["Architecture", "Architektur"],
  trainedContext: ["Context", "Kontext"],
  unknown: ["unknown", "unbekannt"],
  embeddingsOnly: [
    "It computes embeddings and cannot chat.",
    "Es liefert Embeddings und kann nicht chatten.",
  ],
  levels: (repo: string) => say(`Models in ${repo}`, `Modelle in ${repo}`),
  withProjector: ["Reads images", "Liest Bilder"],
  recommended: ["Recommended", "Empfohlen"],
  installed: ["Installed", "Installiert"],
  fitWord: {
    green: ["Fits", "Passt"],
    yellow: ["Tight", "Knapp"],
    red: ["Too large", "Zu groß"],
  },
  fit: {
    fits: (needed: string, available: string) =>
      say(
        `Needs about ${needed}; ${available} is free now.`,
        `Braucht etwa ${needed}; ${available} sind jetzt frei.`,
      ),
    fitsUnbounded: (needed: string) => say(`Needs about ${needed}.`, `Braucht etwa ${needed}.`),
    busy: (needed: string, available: string) =>
      say(
        `Needs about ${needed}, but only ${available} is free now. Unload a model or close other programs first.`,
        `Braucht etwa ${needed}, aber nur ${available} sind jetzt frei. Entladen Sie erst ein Modell oder schließen Sie andere Programme.`,
      ),
    nearlyAll: (needed: string, total: string) =>
      say(
        `Needs about ${needed} of ${total}; other programs may become slow.`,
        `Braucht etwa ${needed} von ${total}; andere Programme werden vielleicht langsam.`,
      ),
    shorter: (tokens: string) =>
      say(
        `Fits with a context of up to ${tokens} tokens.`,
        `Passt mit einem Kontext von bis zu ${tokens} Token.`,
      ),
    tooLarge: (needed: string, total: string) =>
      say(
        `Needs about ${needed}; this machine has ${total}.`,
        `Braucht etwa ${needed}; dieser Rechner hat ${total}.`,
      ),
    better: (level: string) => say(`${level} fits better.`, `${level} passt besser.`),
    betterRed: (level: string) => say(`${level} would fit.`, `${level} würde passen.`),
  },
  jobs: ["Downloads and jobs", "Downloads und Aufgaben"],
  jobTitle: {
    pull: (model: string) => model,
    import: (source: string) => say(`Import of ${source}`, `Import von ${source}`),
    quantize: (model: string, level: string) => say(`${model} to ${level}`, `${model} zu ${level}`),
  },
  jobStatus: {
    waiting: ["Waiting", "Wartet"],
    running: ["Running", "Läuft"],
    paused: ["Paused", "Angehalten"],
    done: ["Done", "Fertig"],
    failed: ["Failed", "Fehlgeschlagen"],
    cancelled: ["Cancelled", "Abgebrochen"],
  },
  phase: {
    verify: ["Checking existing files", "Vorhandene Dateien werden geprüft"],
    download: ["Downloading", "Wird heruntergeladen"],
    unpack: ["Unpacking", "Wird entpackt"],
    convert: ["Converting", "Wird umgewandelt"],
    quantize: ["Quantizing", "Wird quantisiert"],
  },
  ofTotal: (done: string, total: string) => say(`${done} of ${total}`, `${done} von ${total}`),
  timeLeft: (time: string) => say(`${time} left`, `noch ${time}`),
  pauseJob: (title: string) => say(`Pause: ${title}`, `Anhalten: ${title}`),
  resumeJob: (title: string) => say(`Resume: ${title}`, `Fortsetzen: ${title}`),
  cancelJob: (title: string) => say(`Cancel: ${title}`, `Abbrechen: ${title}`),
  cancelTitle: ["Cancel this download?", "Diesen Download abbrechen?"],
  cancelText: (bytes: string) =>
    say(
      `The ${bytes} downloaded so far stay on disk, and downloading this model again continues from there. \`ingle prune\` deletes them.`,
      `Die bisher geladenen ${bytes} bleiben auf der Festplatte; ein neuer Download macht dort weiter. \`ingle prune\` löscht sie.`,
    ),
  cancelAction: ["Cancel the download", "Download abbrechen"],
  jobDone: {
    pull: (title: string) =>
      say(`${title} is on this machine now.`, `${title} ist jetzt auf diesem Rechner.`),
    import: (title: string) => say(`${title} is done.`, `${title} ist fertig.`),
    quantize: (title: string) =>
      say(`${title} is on this machine now.`, `${title} ist jetzt auf diesem Rechner.`),
  },
  jobFailed: (title: string, why: string) =>
    say(`${title} failed. ${why}`.trim(), `${title} ist fehlgeschlagen. ${why}`.trim()),
  hideFinished: ["Hide finished", "Fertige ausblenden"],
  finishedJobs: (count: number) => say(count === 1 ? "1 finished" : `${count} finished`, `${count} fertig`),
  loadTitle: (model: string) => say(`Load ${model}`, `${model} laden`),
  contextLength: ["Context length", "Kontextlänge"],
  contextHint: [
    "The maximum number of tokens in one chat, questions and answers together. A longer context takes more memory.",
    "Wie viele Token ein Chat höchstens haben kann, Fragen und Antworten zusammen. Ein längerer Kontext braucht mehr Speicher.",
  ],
  contextNumber: ["Context length in tokens", "Kontextlänge in Token"],
  kvBitsLabel: ["KV cache", "KV-Cache"],
  kvBitsHint: [
    "How precisely the model stores what it has read. Fewer bits take less memory and are slightly less exact.",
    "Wie genau das Modell speichert, was es gelesen hat. Weniger Bits brauchen weniger Speicher und sind etwas ungenauer.",
  ],
  kvBitsDefault: ["Server default", "Vorgabe des Servers"],
  kvBitsChoice: {
    16: ["16 bits: exact", "16 Bit: genau"],
    8: ["8 bits: half the memory", "8 Bit: der halbe Speicher"],
    4: ["4 bits: a quarter", "4 Bit: ein Viertel"],
    3: ["3 bits: for very long contexts", "3 Bit: für sehr lange Kontexte"],
  },
  estimate: ["Estimate", "Schätzung"],
  estimateMemory: ["Memory", "Speicher"],
  estimateAvailable: ["Free for models", "Frei für Modelle"],
  estimateUnbounded: ["no limit", "unbegrenzt"],
  estimatePerToken: ["KV cache per 1,000 tokens", "KV-Cache je 1.000 Token"],
  estimateMax: ["Longest context that fits", "Längster Kontext, der passt"],
  estimating: ["Estimating…", "Wird geschätzt …"],
  estimateFailed: ["The server could not estimate this.", "Der Server konnte das nicht schätzen."],
  importTitle: ["Import a model", "Ein Modell importieren"],
  importText: [
    "Enter the path of a .gguf file, of a folder with one, or of a model folder in MLX format, on the machine that runs Ingle. A browser does not tell a page where a file is stored, so it cannot be picked here.",
    "Geben Sie den Pfad einer .gguf-Datei, eines Ordners mit einer solchen oder eines Modellordners im MLX-Format an, auf dem Rechner, auf dem Ingle läuft. Ein Browser verrät einer Seite nicht, wo eine Datei liegt; darum lässt sie sich hier nicht auswählen.",
  ],
  importPath: ["Path on the server's machine", "Pfad auf dem Rechner des Servers"],
  importPlaceholder: ["/home/me/models/model.gguf", "/home/ich/modelle/modell.gguf"],
  importAction: ["Import", "Importieren"],
  importHint: [
    "GGUF files are used where they are. MLX models are converted into the library.",
    "GGUF-Dateien werden dort benutzt, wo sie liegen. MLX-Modelle werden umgewandelt und in der Bibliothek gespeichert.",
  ],
  quantizeTitle: (model: string) => say(`Quantize ${model}`, `${model} quantisieren`),
  quantizeText: [
    "Creates a smaller copy of this model. The original is kept.",
    "Erstellt eine kleinere Kopie dieses Modells. Das Original bleibt erhalten.",
  ],
  quantizeWhere: (folder: string) =>
    say(
      `The copy is saved in Ingle's models folder, \`${folder}\`.`,
      `Die Kopie kommt in den Modellordner von Ingle, \`${folder}\`.`,
    ),
  quantizeLevel: ["Level", "Stufe"],
  quantizeAction: ["Quantize", "Quantisieren"],
  quantizeSize: (size: string) => say(`about ${size}`, `etwa ${size}`),
  level: {
    Q4_K_M: ["the smallest of these, and right for most uses", "die kleinste davon und meist die richtige"],
    Q6_K: ["nearly as good as the original", "fast so gut wie das Original"],
    Q8_0: ["hard to tell from the original", "kaum vom Original zu unterscheiden"],
  },
  namesTitle: (model: string) => say(`Names of ${model}`, `Namen von ${model}`),
  namesText: [
    "Other names that requests can use for this model.",
    "Weitere Namen, unter denen Anfragen dieses Modell nennen können.",
  ],
  newName: ["New name", "Neuer Name"],
  addName: ["Add", "Hinzufügen"],
  removeName: (name: string) => say(`Remove the name ${name}`, `Den Namen ${name} entfernen`),
  nameRule: [
    "Up to 100 letters, digits, dots, dashes and underscores.",
    "Bis zu 100 Buchstaben, Ziffern, Punkte, Binde- und Unterstriche.",
  ],
  noNames: ["No other names yet.", "Noch keine weiteren Namen."],
});
