// Texts of the chat's settings.
import { say, texts } from "./language.ts";

export const samplingText = texts({
  panel: ["Chat settings", "Chat-Einstellungen"],
  open: ["Show chat settings", "Chat-Einstellungen anzeigen"],
  close: ["Hide chat settings", "Chat-Einstellungen ausblenden"],
  systemPrompt: ["System prompt", "Systemprompt"],
  systemPromptHint: [
    "Instructions that the model reads first: who it is and how it should answer.",
    "Anweisungen, die das Modell zuerst liest: wer es ist und wie es antworten soll.",
  ],
  systemPromptPlaceholder: ["You are a helpful assistant.", "Du bist ein hilfreicher Assistent."],
  serverDefault: (value: string) => say(`default ${value}`, `Vorgabe ${value}`),
  reset: (name: string) => say(`Reset ${name}`, `${name} zurücksetzen`),
  resetAll: ["Reset all", "Alles zurücksetzen"],
  number: (name: string) => say(`${name}, number`, `${name}, Zahl`),
  sampling: "Sampling",
  temperature: ["Temperature", "Temperatur"],
  temperatureHint: [
    "0 always takes the most likely token; higher values vary more. Usual: 0.1 to 2.",
    "0 nimmt immer das wahrscheinlichste Token; höhere Werte bringen mehr Abwechslung. Üblich: 0,1 bis 2.",
  ],
  topP: "Top P",
  topPHint: [
    "Considers only the most likely tokens that together reach this probability. 1 turns it off. Usual: 0.1 to 1.",
    "Berücksichtigt nur die wahrscheinlichsten Token, die zusammen diese Wahrscheinlichkeit erreichen. 1 schaltet es aus. Üblich: 0,1 bis 1.",
  ],
  topK: "Top K",
  topKHint: [
    "Considers only this many of the most likely tokens. 0 turns it off. Usual: 1 to 100.",
    "Berücksichtigt nur so viele der wahrscheinlichsten Token. 0 schaltet es aus. Üblich: 1 bis 100.",
  ],
  minP: "Min P",
  minPHint: [
    "Considers only tokens at least this likely, relative to the most likely one. 0 turns it off. Usual: 0.05 to 0.2.",
    "Berücksichtigt nur Token, die mindestens so wahrscheinlich sind, gemessen am wahrscheinlichsten. 0 schaltet es aus. Üblich: 0,05 bis 0,2.",
  ],
  repeatPenalty: ["Repeat penalty", "Strafe für Wiederholungen"],
  repeatPenaltyHint: [
    "Above 1, tokens that already appeared become less likely. Usual: 1 to 1.5.",
    "Über 1 werden Token unwahrscheinlicher, die schon vorkamen. Üblich: 1 bis 1,5.",
  ],
  maxTokens: ["Longest answer", "Längste Antwort"],
  maxTokensHint: [
    "In tokens. Empty: only the context limits it.",
    "In Token. Leer: nur der Kontext begrenzt sie.",
  ],
  maxTokensNone: ["no limit", "unbegrenzt"],
  presets: ["Preset", "Voreinstellung"],
  presetNone: ["None", "Keine"],
  presetOwn: ["Custom", "Eigene"],
  presetSave: ["Save as preset", "Als Voreinstellung speichern"],
  presetName: ["Preset name", "Name der Voreinstellung"],
  presetDelete: ["Delete preset", "Voreinstellung löschen"],
  presetDefault: ["Use for new chats", "Für neue Chats verwenden"],
  presetMenu: ["Presets", "Voreinstellungen"],
  presetSaved: (name: string) => say(`Saved the preset “${name}”.`, `Voreinstellung „${name}“ gespeichert.`),
  presetDeleted: (name: string) => say(`Deleted the preset “${name}”.`, `Voreinstellung „${name}“ gelöscht.`),
  recommended: ["Recommended for LFM2", "Empfohlen für LFM2"],
  recommendedText: [
    "The authors of this model recommend these values.",
    "Die Autoren dieses Modells empfehlen diese Werte.",
  ],
  recommendedUse: ["Use them", "Verwenden"],
  memory: ["Model memory", "Speicher des Modells"],
  memoryHint: [
    "These settings belong to the model, not to this chat: changing them reloads it.",
    "Diese Einstellungen gehören zum Modell, nicht zu diesem Chat: Eine Änderung lädt es neu.",
  ],
  contextLength: ["Context length", "Kontextlänge"],
  contextLengthHint: [
    "How many tokens of conversation the model can hold. A longer context takes more memory.",
    "Wie viele Token einer Unterhaltung das Modell aufnehmen kann. Ein längerer Kontext braucht mehr Speicher.",
  ],
  contextMax: (tokens: string) =>
    say(`At most ${tokens} tokens fit here.`, `Höchstens ${tokens} Token passen hier.`),
  kvBits: ["KV cache bits", "Bits im KV-Cache"],
  kvBitsHint: [
    "How precisely the model stores the conversation. Fewer bits take less memory; 16 is exact.",
    "Wie genau das Modell die Unterhaltung speichert. Weniger Bits brauchen weniger Speicher; 16 ist exakt.",
  ],
  kvBitsName: (bits: number) => say(`${bits} bits`, `${bits} Bit`),
  apply: ["Reload with these settings", "Mit diesen Einstellungen neu laden"],
  applyTitle: (model: string) => say(`Reload ${model}?`, `${model} neu laden?`),
  applyText: [
    "Answers in progress are finished first. Then the model is reloaded with the new settings.",
    "Laufende Antworten werden erst fertig geschrieben. Dann wird das Modell mit den neuen Einstellungen geladen.",
  ],
  applyAction: ["Reload", "Neu laden"],
  noModel: [
    "Choose a model to see its memory settings.",
    "Wählen Sie ein Modell, um seine Speichereinstellungen zu sehen.",
  ],
  severalModels: ["Shown for the first chosen model.", "Angezeigt für das erste gewählte Modell."],
  notAllowed: [
    "Changing a model's memory settings requires a management key.",
    "Um die Speichereinstellungen eines Modells zu ändern, brauchen Sie einen Verwaltungsschlüssel.",
  ],
});
