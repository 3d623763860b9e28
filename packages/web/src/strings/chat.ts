// Texts of the chat page.
import { say, texts } from "./language.ts";

export const chatText = texts({
  newChat: ["New chat", "Neuer Chat"],
  list: ["Conversations", "Unterhaltungen"],
  openList: ["Show conversations", "Unterhaltungen anzeigen"],
  closeList: ["Hide conversations", "Unterhaltungen ausblenden"],
  search: ["Search chats", "Chats durchsuchen"],
  searchPlaceholder: ["Titles and messages", "Titel und Nachrichten"],
  foundNothing: ["No results.", "Keine Treffer."],
  emptyList: ["Your conversations will appear here.", "Ihre Unterhaltungen erscheinen hier."],
  ages: {
    today: ["Today", "Heute"],
    yesterday: ["Yesterday", "Gestern"],
    week: ["Last 7 days", "Letzte 7 Tage"],
    month: ["Last 30 days", "Letzte 30 Tage"],
    older: ["Older", "Älter"],
  },
  untitled: ["Untitled", "Ohne Titel"],
  rename: ["Rename", "Umbenennen"],
  moveTo: (folder: string) => say(`Move to ${folder}`, `Nach ${folder} verschieben`),
  noFolder: ["Remove from folder", "Aus dem Ordner nehmen"],
  delete: ["Delete", "Löschen"],
  deleted: (title: string) => say(`Deleted “${title}”.`, `„${title}“ gelöscht.`),
  exportMarkdown: ["Save as Markdown", "Als Markdown speichern"],
  listMenu: ["More", "Mehr"],
  exportAll: ["Export all chats", "Alle Chats exportieren"],
  newFolder: ["New folder", "Neuer Ordner"],
  folderName: ["Folder name", "Ordnername"],
  folderMenu: (name: string) => say(`Actions for folder ${name}`, `Aktionen für Ordner ${name}`),
  openFolder: (name: string, count: number) =>
    say(
      `${name}, ${count === 1 ? "1 conversation" : `${count} conversations`}`,
      `${name}, ${count === 1 ? "1 Unterhaltung" : `${count} Unterhaltungen`}`,
    ),
  removeFolder: ["Remove folder", "Ordner entfernen"],
  newName: ["New name", "Neuer Name"],
  thread: ["Messages", "Nachrichten"],
  toBottom: ["Scroll to the end", "Zum Ende scrollen"],
  greeting: ["What would you like to know?", "Was möchten Sie wissen?"],
  greetingHint: ["Everything stays on this machine.", "Alles bleibt auf diesem Rechner."],
  you: ["You", "Sie"],
  chooseModel: ["Choose a model", "Modell wählen"],
  noneChosen: ["Choose a model first.", "Wählen Sie zuerst ein Modell."],
  modelGone: (model: string) =>
    say(`${model} is no longer installed.`, `${model} ist nicht mehr installiert.`),
  compare: ["Compare with another model", "Mit einem anderen Modell vergleichen"],
  stopComparing: (model: string) =>
    say(`Remove ${model} from the comparison`, `${model} aus dem Vergleich nehmen`),
  answers: ["Answers per question", "Antworten je Frage"],
  answersCount: (count: number) =>
    count === 1 ? say("1 answer", "1 Antwort") : say(`${count} answers`, `${count} Antworten`),
  preparingModel: (model: string) => say(`Preparing ${model}`, `${model} wird vorbereitet`),
  modelFailed: (model: string, reason: string) =>
    say(`${model} could not be loaded: ${reason}`, `${model} konnte nicht geladen werden: ${reason}`),
  inMemory: ["in memory", "im Speicher"],
  onDisk: ["on disk", "auf der Festplatte"],
  loadingShort: ["loading", "wird geladen"],
  failedShort: ["failed", "fehlgeschlagen"],
  readsImages: ["reads images", "liest Bilder"],
  copy: ["Copy", "Kopieren"],
  copyCode: ["Copy code", "Code kopieren"],
  code: ["code", "Code"],
  diagram: ["Diagram", "Diagramm"],
  diagramSource: ["Show the source", "Quelltext anzeigen"],
  diagramWrong: (reason: string) =>
    say(`Mermaid cannot draw this: ${reason}`, `Mermaid kann das nicht zeichnen: ${reason}`),
  diagramTooLong: (max: string) =>
    say(
      `This diagram is too large to draw: it has more than ${max} characters.`,
      `Dieses Diagramm ist zu groß zum Zeichnen: Es hat mehr als ${max} Zeichen.`,
    ),
  edit: ["Edit", "Bearbeiten"],
  saveAndAsk: ["Ask again", "Erneut fragen"],
  editLabel: ["Your message", "Ihre Nachricht"],
  editReply: ["Edit the answer", "Antwort bearbeiten"],
  editReplyLabel: ["The answer", "Die Antwort"],
  replyEdited: ["Saved as a new version.", "Als neue Version gespeichert."],
  editedNote: ["Edited by you.", "Von Ihnen bearbeitet."],
  leftOut: (count: string) =>
    count === "1"
      ? say(
          "Answered without the oldest message of this chat.",
          "Beantwortet ohne die älteste Nachricht dieses Chats.",
        )
      : say(
          `Answered without the ${count} oldest messages of this chat.`,
          `Beantwortet ohne die ${count} ältesten Nachrichten dieses Chats.`,
        ),
  leaveOutOldest: ["Go on without the oldest messages", "Ohne die ältesten Nachrichten weitermachen"],
  retryModel: (model: string) => say(`Try again with ${model}`, `Mit ${model} erneut versuchen`),
  continue: ["Continue", "Fortsetzen"],
  messageMenu: ["Message actions", "Aktionen für diese Nachricht"],
  prune: ["Delete from here on", "Ab hier löschen"],
  pruned: (count: number) =>
    count === 1
      ? say("Deleted 1 message.", "1 Nachricht gelöscht.")
      : say(`Deleted ${count} messages.`, `${count} Nachrichten gelöscht.`),
  sibling: (at: number, count: number) => say(`Version ${at} of ${count}`, `Version ${at} von ${count}`),
  previousSibling: ["Previous version", "Vorherige Version"],
  nextSibling: ["Next version", "Nächste Version"],
  continueWithThis: ["Continue with this answer", "Mit dieser Antwort fortfahren"],
  chosenAnswer: ["Continues from here", "Hier geht es weiter"],
  thinking: ["Thinking…", "Nachdenken …"],
  thoughtFor: (time: string) => say(`Thought for ${time}`, `${time} nachgedacht`),
  thought: ["Thoughts", "Gedanken"],
  waiting: ["Waiting for the model…", "Warten auf das Modell …"],
  stopped: ["Stopped.", "Gestoppt."],
  interrupted: [
    "The page was closed before this answer was finished.",
    "Die Seite wurde geschlossen, bevor diese Antwort fertig war.",
  ],
  connectionBroke: [
    "The connection was lost before this answer was finished.",
    "Die Verbindung ist abgebrochen, bevor diese Antwort fertig war.",
  ],
  cutByLimit: ["Stopped at the token limit.", "Am Tokenlimit gestoppt."],
  cutByContext: ["The context is full.", "Der Kontext ist voll."],
  noText: ["The model returned an empty answer.", "Das Modell hat eine leere Antwort gegeben."],
  failed: ["No answer", "Keine Antwort"],
  writtenInOtherTab: ["Another tab is writing this answer.", "Ein anderer Tab schreibt diese Antwort."],
  figures: ["About this answer", "Zu dieser Antwort"],
  tokensPerSecond: (rate: string) => say(`${rate} tokens/s`, `${rate} Token/s`),
  firstToken: (time: string) => say(`first token after ${time}`, `erstes Token nach ${time}`),
  tokensUsed: (prompt: string, reply: string) =>
    say(`${prompt} + ${reply} tokens`, `${prompt} + ${reply} Token`),
  cached: (count: string) =>
    say(`${count} prompt tokens from the cache`, `${count} Prompt-Token aus dem Cache`),
  contextLeft: (left: string, all: string) =>
    say(`${left} of ${all} context tokens left`, `${left} von ${all} Kontext-Token frei`),
  answerReady: (model: string) => say(`${model} has answered.`, `${model} hat geantwortet.`),
  answerStopped: ["The answer was stopped.", "Die Antwort wurde gestoppt."],
  answerFailed: (reason: string) => say(`No answer: ${reason}`, `Keine Antwort: ${reason}`),
  composer: ["Message", "Nachricht"],
  placeholder: ["Write a message", "Nachricht schreiben"],
  send: ["Send", "Senden"],
  attach: ["Attach files", "Dateien anhängen"],
  dropHere: ["Drop files to attach them", "Dateien hier ablegen"],
  removeAttachment: (name: string) => say(`Remove ${name}`, `${name} entfernen`),
  fileProblems: {
    tooLarge: (name: string) => say(`${name} is too large.`, `${name} ist zu groß.`),
    notText: (name: string) =>
      say(
        `${name} is not a text file, an image, a PDF or a Word document (.docx).`,
        `${name} ist weder Textdatei noch Bild, PDF oder Word-Dokument (.docx).`,
      ),
    empty: (name: string) => say(`${name} is empty.`, `${name} ist leer.`),
    noVision: (name: string) =>
      say(
        `${name} was not attached: the chosen model cannot read images.`,
        `${name} wurde nicht angehängt: Das gewählte Modell kann keine Bilder lesen.`,
      ),
    unreadable: (name: string) =>
      say(
        `${name} is damaged or password-protected.`,
        `${name} ist beschädigt oder mit einem Passwort geschützt.`,
      ),
    withoutText: (name: string) => say(`${name} contains no text.`, `${name} enthält keinen Text.`),
    pdfWithoutText: (name: string) =>
      say(
        `${name} contains no text, only scanned pages.`,
        `${name} enthält keinen Text, nur gescannte Seiten.`,
      ),
  },
  visionModels: (names: string) => say(`These can: ${names}.`, `Diese können es: ${names}.`),
  noVisionModels: [
    "None on this machine can. The model hub in the library shows which models read images.",
    "Auf diesem Rechner kann es keines. Der Model Hub in der Bibliothek zeigt, welche Modelle Bilder lesen.",
  ],
  cannotReadImages: (model: string) =>
    say(
      `${model} cannot read the attached images. Choose another model or remove them.`,
      `${model} kann die angehängten Bilder nicht lesen. Wählen Sie ein anderes Modell oder entfernen Sie sie.`,
    ),
  openImage: (name: string) => say(`Enlarge ${name}`, `${name} vergrößern`),
  answerNow: ["Answer now", "Jetzt antworten"],
  effort: ["Thinking", "Nachdenken"],
  effortNames: {
    default: ["Thinking: auto", "Nachdenken: auto"],
    none: ["No thinking", "Nicht nachdenken"],
    low: ["Think a little", "Kurz nachdenken"],
    medium: ["Think", "Nachdenken"],
    high: ["Think hard", "Lange nachdenken"],
  },
  contextUse: (used: string, all: string) =>
    say(`${used} of ${all} context tokens used`, `${used} von ${all} Kontext-Token belegt`),
  contextShort: (share: string) => say(`Context ${share}`, `Kontext ${share}`),
  contextTooLong: (prompt: string, context: string) =>
    say(
      `This conversation has ${prompt} tokens, but the model was loaded with a context of ${context}.`,
      `Diese Unterhaltung hat ${prompt} Token, das Modell wurde aber mit einem Kontext von ${context} geladen.`,
    ),
  reloadLarger: (tokens: string) => say(`Reload with ${tokens} tokens`, `Mit ${tokens} Token neu laden`),
  noMoreContext: [
    "This model cannot have a larger context on this machine. Start a new chat or choose another model.",
    "Einen größeren Kontext lässt dieses Modell auf diesem Rechner nicht zu. Beginnen Sie einen neuen Chat oder wählen Sie ein anderes Modell.",
  ],
  nothingFits: (needed: string, max: string) =>
    say(
      `This conversation has ${needed} tokens, and this model can have a context of at most ${max} on this machine. Shorten it, start a new chat, or choose another model.`,
      `Diese Unterhaltung hat ${needed} Token, und dieses Modell kann auf diesem Rechner höchstens einen Kontext von ${max} haben. Kürzen Sie sie, beginnen Sie einen neuen Chat oder wählen Sie ein anderes Modell.`,
    ),
  draftTooLong: (draft: string, left: string, all: string) =>
    say(
      `This message has about ${draft} tokens, but ${left} of the model's context of ${all} are left.`,
      `Diese Nachricht hat etwa ${draft} Token, im Kontext des Modells von ${all} sind aber nur ${left} frei.`,
    ),
  cannotAnswer: ["The model cannot answer it like this.", "So kann das Modell sie nicht beantworten."],
  reloaded: (model: string) => say(`${model} is ready.`, `${model} ist bereit.`),
  tree: ["Branches", "Zweige"],
  treeHint: [
    "Every edit and every retry creates a branch. Choose one to continue from it.",
    "Jede Bearbeitung und jeder neue Versuch ergibt einen Zweig. Wählen Sie einen, um dort weiterzumachen.",
  ],
  treeHere: ["current", "aktuell"],
  treeDelete: ["Delete this branch", "Diesen Zweig löschen"],
  shortcuts: ["Keyboard shortcuts", "Tastenkürzel"],
  shortcutNames: {
    newChat: ["New chat", "Neuer Chat"],
    search: ["Search chats", "Chats durchsuchen"],
    composer: ["Write a message", "Nachricht schreiben"],
    send: ["Send", "Senden"],
    newLine: ["New line", "Neue Zeile"],
    stop: ["Stop the answer", "Antwort stoppen"],
    editLast: ["Edit your last message", "Ihre letzte Nachricht bearbeiten"],
    copyLast: ["Copy the last answer", "Letzte Antwort kopieren"],
    list: ["Show or hide conversations", "Unterhaltungen ein- oder ausblenden"],
    panel: ["Show or hide settings", "Einstellungen ein- oder ausblenden"],
    shortcuts: ["Show this list", "Diese Liste anzeigen"],
  },
  storageFailed: (reason: string) =>
    say(`Chats cannot be stored: ${reason}`, `Chats können nicht gespeichert werden: ${reason}`),
  chatsMoved: (count: number) =>
    say(
      `Ingle now keeps the ${count === 1 ? "chat" : `${count} chats`} of this browser: every browser on this machine shows the same.`,
      count === 1
        ? "Ingle bewahrt den Chat dieses Browsers nun selbst auf: Jeder Browser auf diesem Rechner zeigt dasselbe."
        : `Ingle bewahrt die ${count} Chats dieses Browsers nun selbst auf: Jeder Browser auf diesem Rechner zeigt dasselbe.`,
    ),
  storageOutdated: [
    "Another tab has a newer version of this page. Reload this one.",
    "Ein anderer Tab hat eine neuere Version dieser Seite. Laden Sie diese neu.",
  ],
  reload: ["Reload", "Neu laden"],
});
