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
  thinkingTokens: ["Longest thought", "Längster Gedanke"],
  maxTokensNone: ["no limit", "unbegrenzt"],
  seed: ["Seed", "Startwert (Seed)"],
  seedHint: [
    "The same number and the same chat give the same answer. Empty: another one each time.",
    "Dieselbe Zahl und derselbe Chat ergeben dieselbe Antwort. Leer: jedes Mal eine andere.",
  ],
  seedRandom: ["random", "zufällig"],
  more: ["More samplers: XTC and DRY", "Weitere Sampler: XTC und DRY"],
  xtcProbability: ["XTC probability", "XTC-Wahrscheinlichkeit"],
  xtcProbabilityHint: [
    "How often the likeliest tokens are left out, for less predictable texts. 0 turns it off. Usual: 0.5.",
    "Wie oft die wahrscheinlichsten Token wegfallen, für weniger vorhersehbare Texte. 0 schaltet es aus. Üblich: 0,5.",
  ],
  xtcThreshold: ["XTC threshold", "XTC-Schwelle"],
  xtcThresholdHint: [
    "Of the tokens at least this likely, XTC keeps only the least likely one. Usual: 0.1.",
    "Von den Token, die mindestens so wahrscheinlich sind, behält XTC nur das unwahrscheinlichste. Üblich: 0,1.",
  ],
  dryMultiplier: ["DRY multiplier", "DRY-Faktor"],
  dryMultiplierHint: [
    "How strongly tokens are penalized that would continue a repetition. 0 turns DRY off. Usual: 0.8.",
    "Wie stark Token bestraft werden, die eine Wiederholung fortsetzen würden. 0 schaltet DRY aus. Üblich: 0,8.",
  ],
  dryBase: ["DRY base", "DRY-Basis"],
  dryBaseHint: [
    "The factor by which the penalty grows with each repeated token. Usual: 1.75.",
    "Der Faktor, um den die Strafe mit jedem wiederholten Token wächst. Üblich: 1,75.",
  ],
  dryAllowedLength: ["DRY allowed length", "Von DRY erlaubte Länge"],
  dryAllowedLengthHint: [
    "Repetitions of up to this many tokens are not penalized. Usual: 2.",
    "Wiederholungen bis zu so vielen Token werden nicht bestraft. Üblich: 2.",
  ],
  dryPenaltyLastN: ["DRY range", "Reichweite von DRY"],
  dryPenaltyLastNHint: [
    "How many tokens back DRY looks. 0 turns it off, -1 means 4096.",
    "Wie viele Token DRY zurückblickt. 0 schaltet es aus, -1 bedeutet 4096.",
  ],
  answer: ["Form of the answer", "Form der Antwort"],
  stop: ["Stop texts", "Stopptexte"],
  stopHint: [
    "The answer ends before any of these. One a line; \\n stands for a line break.",
    "Die Antwort endet vor jedem von ihnen. Einer je Zeile; \\n steht für einen Zeilenumbruch.",
  ],
  stopProblems: {
    tooMany: ["There can be at most 128.", "Es können höchstens 128 sein."],
    tooLong: ["Each can have at most 1,024 characters.", "Jeder kann höchstens 1.024 Zeichen haben."],
  },
  schema: ["JSON schema", "JSON-Schema"],
  schemaHint: [
    "The answer is JSON that is valid for this schema. Empty: any text.",
    "Die Antwort ist JSON, das diesem Schema entspricht. Leer: beliebiger Text.",
  ],
  schemaNotJson: (reason: string) => say(`This is not JSON: ${reason}`, `Das ist kein JSON: ${reason}`),
  schemaNoObject: [
    'A schema is an object, such as { "type": "object" }.',
    'Ein Schema ist ein Objekt, etwa { "type": "object" }.',
  ],
  schemaTooLong: [
    "A schema can have at most 262,144 characters.",
    "Ein Schema kann höchstens 262.144 Zeichen haben.",
  ],
  formWrong: [
    "The form of the answer in the chat settings is wrong. Correct it there first.",
    "Die Form der Antwort in den Chat-Einstellungen ist falsch. Berichtigen Sie sie dort zuerst.",
  ],
  rolling: [
    "Leave out the oldest messages when the context is full",
    "Älteste Nachrichten weglassen, wenn der Kontext voll ist",
  ],
  rollingHint: [
    "The model no longer reads them; they stay in the chat. The system prompt is always kept. Each answer says how many were left out.",
    "Das Modell liest sie dann nicht mehr; im Chat bleiben sie. Der Systemprompt bleibt immer erhalten. Jede Antwort sagt, wie viele fehlen.",
  ],
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
