// German of the settings, beyond how the page looks.
import type { Strings } from "./strings.ts";

export const settingsDe: Strings["settings"] = {
  chats: "Chats",
  chatsText: "Chats bleiben nur in diesem Browser.",
  chatCount: (count) => `Es sind ${count}.`,
  defaultPreset: "Neue Chats beginnen mit",
  defaultPresetHint: "Presets entstehen in den Einstellungen neben einem Chat.",
  noPreset: "Keinem Preset",
  exportChats: "Alle exportieren",
  importChats: "Importieren …",
  deleteChats: "Alle löschen …",
  deleteTitle: "Alle Chats löschen?",
  deleteText: (count) =>
    `Alle ${count} Chats dieses Browsers werden gelöscht. Exportieren Sie sie vorher, um eine Kopie zu behalten.`,
  deleteAction: "Alle Chats löschen",
  machine: "Dieser Rechner",
  machineText: (processor, cores, memory) => `${processor} · ${cores} · ${memory} Arbeitsspeicher`,
  machineLink: "Mehr über diesen Rechner",
  licenseText:
    "Ingle ist freie Software unter der MIT-Lizenz. llama.cpp auch; ein Modell hat die Lizenz seiner Hersteller.",
  docs: "API-Referenz dieses Servers",
};
