// Texts of the Server page.
import { say, texts } from "./language.ts";

export const serverText = texts({
  button: {
    start: ["Start Server", "Server starten"],
    saveAndStart: ["Save and Start Server", "Speichern und Server starten"],
    loading: ["Loading model…", "Modell wird geladen …"],
    starting: ["Starting…", "Wird gestartet …"],
    stop: ["Stop Server", "Server stoppen"],
    stopping: ["Stopping…", "Wird gestoppt …"],
  },
  status: {
    stopped: ["Stopped", "Gestoppt"],
    loading: ["Loading model", "Modell wird geladen"],
    starting: ["Starting", "Wird gestartet"],
    running: ["Running", "Läuft"],
    stopping: ["Stopping", "Wird gestoppt"],
    failed: ["Could not start", "Start fehlgeschlagen"],
  },
  stoppedText: [
    "While the server runs, other programs can use your models. Chats on this page work without it.",
    "Während der Server läuft, können andere Programme Ihre Modelle benutzen. Chats auf dieser Seite funktionieren auch ohne ihn.",
  ],
  startingText: [
    "The address appears here once the server is listening.",
    "Die Adresse erscheint hier, sobald der Server bereit ist.",
  ],
  stoppingText: (count: number) =>
    count === 0
      ? say("The server is closing its port.", "Der Server schließt seinen Port.")
      : count === 1
        ? say("One request is still in progress.", "Eine Anfrage wird noch beantwortet.")
        : say(`${count} requests are still in progress.`, `${count} Anfragen werden noch beantwortet.`),
  readOnly: [
    "This server was started with `ingle serve`, so stop or change it where you started it. `ingle app` has a server that this page can control.",
    "Dieser Server wurde mit `ingle serve` gestartet; stoppen oder ändern Sie ihn dort. `ingle app` hat einen Server, den diese Seite steuern kann.",
  ],
  inferenceOnly: [
    "Your key can only use models. To control the server, use a management key.",
    "Mit Ihrem Schlüssel können Sie Modelle nur benutzen. Um den Server zu steuern, brauchen Sie einen Verwaltungsschlüssel.",
  ],
  address: ["Address", "Adresse"],
  copyAddress: ["Copy the address", "Adresse kopieren"],
  baseUrl: ["Base URL for clients", "Basis-URL für Programme"],
  copyBaseUrl: ["Copy the base URL", "Basis-URL kopieren"],
  moved: (port: string, used: string) =>
    say(
      `Port ${port} was taken, so the server listens on ${used}.`,
      `Port ${port} war belegt; der Server benutzt ${used}.`,
    ),
  openWithoutKey: [
    "Every program on this network can use the server, because it has no key. Create one under Settings, or set the host to 127.0.0.1.",
    "Jedes Programm in diesem Netzwerk kann den Server benutzen, denn er hat keinen Schlüssel. Erstellen Sie einen unter Einstellungen oder setzen Sie den Host auf 127.0.0.1.",
  ],
  openNeedsKey: [
    "Other machines can reach the server with this host, so it starts only with a key. Create one below, or set the host to 127.0.0.1.",
    "Mit diesem Host erreichen auch andere Rechner den Server; darum startet er nur mit einem Schlüssel. Erstellen Sie unten einen oder setzen Sie den Host auf 127.0.0.1.",
  ],
  startInvalid: [
    "Correct the settings that are marked first.",
    "Berichtigen Sie zuerst die markierten Einstellungen.",
  ],
  needsKey: ["Requests require a key.", "Anfragen brauchen einen Schlüssel."],
  needsNoKey: [
    "Requests from this machine do not require a key.",
    "Anfragen von diesem Rechner brauchen keinen Schlüssel.",
  ],
  views: ["Server views", "Ansichten des Servers"],
  tab: {
    connect: ["Connect", "Verbinden"],
    activity: ["Activity", "Aktivität"],
    settings: ["Settings", "Einstellungen"],
    machine: ["This machine", "Rechner"],
  },
  models: ["Model IDs", "Modell-IDs"],
  modelsText: [
    "Requests name one of these in `model`. A model that is not loaded is loaded by the first request for it.",
    "Anfragen nennen eine davon in `model`. Ein Modell, das nicht geladen ist, wird mit der ersten Anfrage geladen.",
  ],
  modelsDeveloper: [
    "This server accepts any text as `model`.",
    "Dieser Server nimmt jeden Text als `model`.",
  ],
  copyModel: (model: string) => say(`Copy ${model}`, `${model} kopieren`),
  noModels: ["There are no models on this machine yet.", "Auf diesem Rechner gibt es noch keine Modelle."],
  snippets: ["Use it from", "Benutzen mit"],
  copySnippet: (title: string) => say(`Copy for ${title}`, `Für ${title} kopieren`),
  snippetStopped: [
    "The server is not running. This is the address it will try to use.",
    "Der Server läuft nicht. Diese Adresse wird er zu verwenden versuchen.",
  ],
  snippetKey: [
    "Replace YOUR_KEY with one of your keys.",
    "Ersetzen Sie YOUR_KEY durch einen Ihrer Schlüssel.",
  ],
  figures: ["Now", "Jetzt"],
  answerSpeed: ["Answers", "Antworten"],
  promptSpeed: "Prompts",
  tokensWord: ["tokens", "Token"],
  tokensPerSecond: ["tokens/s", "Token/s"],
  running: ["Requests", "Anfragen"],
  waitingCount: (count: string) => say(`+ ${count} waiting`, `+ ${count} wartend`),
  kvUse: ["KV cache used", "KV-Cache belegt"],
  cacheHits: ["Prompts from cache", "Prompts aus Cache"],
  processMemory: ["Process memory", "Prozessspeicher"],
  noFigure: "–",
  chart: ["Tokens per second, last two minutes", "Token pro Sekunde, letzte zwei Minuten"],
  chartText: (answers: string, prompts: string) =>
    say(
      `Now ${answers} answer tokens and ${prompts} prompt tokens per second.`,
      `Jetzt ${answers} Antwort-Token und ${prompts} Prompt-Token pro Sekunde.`,
    ),
  twoMinutesAgo: ["2 min ago", "vor 2 min"],
  now: ["now", "jetzt"],
  requests: ["Requests", "Anfragen"],
  noRequests: ["No program has sent a request yet.", "Noch hat kein Programm eine Anfrage gesendet."],
  requestsTable: ["Requests, newest first", "Anfragen, die neueste zuerst"],
  column: {
    time: ["Time", "Zeit"],
    request: ["Request", "Anfrage"],
    status: "Status",
    tokens: ["Tokens in / out", "Token ein / aus"],
    speed: ["Tokens/s", "Token/s"],
    seconds: ["Seconds", "Dauer"],
    actions: ["Actions", "Aktionen"],
  },
  requestStatus: {
    waiting: ["Waiting", "Wartet"],
    prompt: ["Reading prompt", "Liest Prompt"],
    generating: ["Answering", "Antwortet"],
    done: ["Done", "Fertig"],
    failed: ["Failed", "Fehler"],
    cancelled: ["Cancelled", "Abgebrochen"],
  },
  cachedTokens: (count: string) => say(`${count} cached`, `${count} aus dem Cache`),
  cancelRequest: (id: string) => say(`Cancel request ${id}`, `Anfrage ${id} abbrechen`),
  openRequest: (id: string) => say(`Details of request ${id}`, `Einzelheiten der Anfrage ${id}`),
  detail: {
    id: "ID",
    path: ["Path", "Pfad"],
    client: ["From", "Von"],
    key: ["Key", "Schlüssel"],
    status: "Status",
    started: ["Started", "Begonnen"],
    seconds: ["Took", "Dauer"],
    prompt: "Prompt",
    completion: ["Answer", "Antwort"],
    speed: ["Speed", "Geschwindigkeit"],
  },
  promptTokensCached: (tokens: string, cached: string) =>
    say(`${tokens} tokens, ${cached} from the cache`, `${tokens} Token, davon ${cached} aus dem Cache`),
  body: ["Prompt as sent", "Prompt, wie gesendet"],
  answer: ["Answer", "Antwort"],
  copyBody: ["Copy the prompt", "Prompt kopieren"],
  copyAnswer: ["Copy answer", "Antwort kopieren"],
  bodiesOff: [
    "Prompts and answers are not kept. Turn on “Keep prompts and answers” to see those of new requests.",
    "Prompts und Antworten werden nicht aufbewahrt. Schalten Sie „Prompts und Antworten aufbewahren“ ein, um die neuer Anfragen zu sehen.",
  ],
  keepBodies: ["Keep prompts and answers", "Prompts und Antworten aufbewahren"],
  keepBodiesHint: [
    "Shows the prompts and answers of the latest requests. They are kept in memory only, and deleted when you turn this off.",
    "Zeigt Prompts und Antworten der neuesten Anfragen. Sie bleiben nur im Arbeitsspeicher und werden gelöscht, sobald Sie dies ausschalten.",
  ],
  keepBodiesTitle: ["Keep prompts and answers?", "Prompts und Antworten aufbewahren?"],
  keepBodiesText: [
    "Until you turn this off, anyone who can manage this server can read the prompts and answers of all its users. Nothing is written to disk.",
    "Bis Sie es ausschalten, können alle, die diesen Server verwalten, die Prompts und Antworten aller Benutzer lesen. Nichts davon wird auf die Festplatte geschrieben.",
  ],
  keepBodiesAction: ["Keep them", "Aufbewahren"],
  log: ["Log", "Protokoll"],
  logText: ["Contains no prompts, answers or keys.", "Es enthält keine Prompts, Antworten oder Schlüssel."],
  logLevel: ["Level", "Stufe"],
  level: {
    info: ["Everything", "Alles"],
    warn: ["Warnings and errors", "Warnungen und Fehler"],
    error: ["Errors", "Fehler"],
  },
  levelName: {
    info: "info",
    warn: ["warning", "warnung"],
    error: ["error", "fehler"],
  },
  logFilter: ["Filter the log", "Protokoll filtern"],
  copyLog: ["Copy the lines shown", "Angezeigte Zeilen kopieren"],
  noLog: ["Nothing has been logged yet.", "Noch wurde nichts protokolliert."],
  noLogMatch: ["No lines match.", "Keine Zeile passt."],
  locked: [
    "The server is running with these settings. Stop it to change them.",
    "Der Server läuft mit diesen Einstellungen. Stoppen Sie ihn, um sie zu ändern.",
  ],
  lockedBusy: [
    "You can change these settings once the server has stopped.",
    "Sie können diese Einstellungen ändern, sobald der Server gestoppt ist.",
  ],
  saved: ["Saved.", "Gespeichert."],
  discard: ["Discard", "Verwerfen"],
  variant: ["Model names in requests", "Modellnamen in Anfragen"],
  variantHint: [
    "Whether a request has to name a model of this machine, or may name any, such as “gpt-4”, and gets one that is here.",
    "Ob eine Anfrage ein Modell dieses Rechners nennen muss oder irgendeines nennen darf, etwa „gpt-4“, und eines von hier bekommt.",
  ],
  variantName: {
    desktop: ["Only models of this machine", "Nur Modelle dieses Rechners"],
    developer: ["Any name (for developers)", "Jeder Name (für Entwickler)"],
    "command-line": ["Only the model of the command line", "Nur das Modell der Kommandozeile"],
    serverless: ["Only listed models (serverless)", "Nur Modelle aus der Liste (Serverless)"],
  },
  host: "Host",
  hostHint: [
    "127.0.0.1 accepts requests from this machine only; 0.0.0.0 also from other machines on the network.",
    "127.0.0.1 nimmt nur Anfragen von diesem Rechner an; 0.0.0.0 auch von anderen Rechnern im Netzwerk.",
  ],
  port: "Port",
  portHint: [
    "If it is taken, the next free port is used.",
    "Ist er belegt, wird der nächste freie Port benutzt.",
  ],
  parallel: ["Parallel requests", "Parallele Anfragen"],
  parallelHint: [
    "How many requests are answered at the same time. Empty: the engine decides.",
    "Wie viele Anfragen gleichzeitig beantwortet werden. Leer: Die Engine entscheidet.",
  ],
  parallelPlaceholder: ["automatic", "automatisch"],
  allowHosts: ["Other names of this server", "Weitere Namen dieses Servers"],
  allowHostsHint: [
    "Names under which other programs reach it, such as host.docker.internal. One per line.",
    "Namen, unter denen andere Programme ihn erreichen, etwa host.docker.internal. Einer je Zeile.",
  ],
  allowOrigins: ["Web pages that may use the server", "Webseiten, die den Server benutzen dürfen"],
  allowOriginsHint: [
    "The beginning of their addresses, such as https://chat.example. One per line.",
    "Der Anfang ihrer Adressen, etwa https://chat.example. Einer je Zeile.",
  ],
  problem: {
    port: ["Enter a whole number from 1 to 65,535.", "Geben Sie eine ganze Zahl von 1 bis 65.535 ein."],
    host: [
      "Enter an address or a name, such as 127.0.0.1 or 0.0.0.0.",
      "Geben Sie eine Adresse oder einen Namen ein, etwa 127.0.0.1 oder 0.0.0.0.",
    ],
    allowHosts: [
      "Enter one host name or address per line, without a port; at most 64.",
      "Geben Sie je Zeile einen Hostnamen oder eine Adresse ohne Port ein; höchstens 64.",
    ],
    allowOrigins: [
      "Enter one address per line, such as https://chat.example, without a path; at most 64.",
      "Geben Sie je Zeile eine Adresse wie https://chat.example ohne Pfad ein; höchstens 64.",
    ],
    parallel: [
      "Enter a whole number from 1 to 256, or leave it empty.",
      "Geben Sie eine ganze Zahl von 1 bis 256 ein oder lassen Sie das Feld leer.",
    ],
  },
  startModels: ["Load when the server starts", "Beim Start des Servers laden"],
  startModelsHint: [
    "Other models are loaded by the first request for them.",
    "Andere Modelle werden mit der ersten Anfrage geladen, die sie nennt.",
  ],
  startsWithApp: ["Start the server with the app", "Server mit der App starten"],
  startsWithAppHint: [
    "From the next start of the app on, the server starts with it and loads these models.",
    "Ab dem nächsten Start der App startet der Server mit ihr und lädt diese Modelle.",
  ],
  keys: ["API keys", "API-Schlüssel"],
  keysText: [
    "Once there is a key, requests require one. A management key can also load, download and remove models.",
    "Sobald es einen Schlüssel gibt, brauchen Anfragen einen. Ein Verwaltungsschlüssel darf auch Modelle laden, herunterladen und entfernen.",
  ],
  noKeys: [
    "No keys: programs on this machine do not need one.",
    "Keine Schlüssel: Programme auf diesem Rechner brauchen keinen.",
  ],
  noKeysLeft: [
    "No key is left, so the server rejects every request. Create a key, or stop and start the server to use it without one.",
    "Es gibt keinen Schlüssel mehr, deshalb lehnt der Server alle Anfragen ab. Erstellen Sie einen Schlüssel, oder stoppen Sie den Server und starten Sie ihn ohne Schlüssel neu.",
  ],
  keyName: "Name",
  keyNamePlaceholder: ["For example “editor”", "Zum Beispiel „Editor“"],
  keyScope: ["Allows", "Erlaubt"],
  scope: {
    inference: ["Using models", "Modelle benutzen"],
    management: ["Using and managing models", "Modelle benutzen und verwalten"],
  },
  scopeName: {
    inference: ["Inference", "Benutzen"],
    management: ["Management", "Verwalten"],
  },
  createKey: ["Create key", "Schlüssel erstellen"],
  createKeyTitle: ["Create an API key", "Einen API-Schlüssel erstellen"],
  newKeyTitle: ["Your new key", "Ihr neuer Schlüssel"],
  newKeyText: [
    "Copy it now: it is not shown again. Ingle stores only a hash of it.",
    "Kopieren Sie ihn jetzt: Er wird nicht noch einmal angezeigt. Ingle speichert nur einen Hashwert davon.",
  ],
  copyKey: ["Copy the key", "Schlüssel kopieren"],
  done: ["Done", "Fertig"],
  keyEnding: (ending: string) => say(`ends in ${ending}`, `endet auf ${ending}`),
  keyCreated: (when: string) => say(`created ${when}`, `erstellt ${when}`),
  revoke: ["Revoke", "Widerrufen"],
  revokeKey: (name: string) => say(`Revoke ${name}`, `${name} widerrufen`),
  revokeTitle: (name: string) => say(`Revoke ${name}?`, `${name} widerrufen?`),
  revokeText: [
    "Programs that use it are rejected from their next request on.",
    "Programme, die ihn benutzen, werden ab ihrer nächsten Anfrage abgewiesen.",
  ],
});
