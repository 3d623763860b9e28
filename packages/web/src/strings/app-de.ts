// German of the frame around the pages.
import type { Strings } from "./strings.ts";

export const appDe: Strings["app"] = {
  name: "Ingle",
  chat: "Chat",
  text: "Text",
  library: "Bibliothek",
  server: "Server",
  settings: "Einstellungen",
  navigation: "Seiten",
  skipToContent: "Zum Inhalt springen",
  close: "Schließen",
  cancel: "Abbrechen",
  save: "Speichern",
  undo: "Rückgängig",
  copied: "Kopiert",
  copyFailed: "Kopieren ging nicht",
  loading: "Lädt …",
  retry: "Noch einmal",
  pageFailed: "Diese Seite ließ sich nicht laden.",
  connecting: "Verbindung zu Ingle wird hergestellt …",
  connectionLost:
    "Ingle antwortet nicht. Ihre Chats sind sicher; die Seite verbindet sich von selbst wieder.",
  connectionLostShort: "Nicht verbunden",
  connectionBack: "Ingle ist wieder da.",
  connected: "Verbunden",
  tryNow: "Jetzt versuchen",
  keyTitle: "Dieser Server verlangt einen Schlüssel",
  keyText:
    "Fragen Sie den Betreiber nach einem API-Schlüssel. Er bleibt als Cookie dieser Seite gespeichert.",
  keyLabel: "API-Schlüssel",
  keyWrong: "Der Server kennt diesen Schlüssel nicht.",
  keyOpen: "Öffnen",
  appClosedTitle: "Öffnen Sie Ingle über seine eigene Adresse",
  appClosedText:
    "Diese Adresse allein öffnet nichts. Starten Sie `ingle app` in einem Terminal: Es öffnet die Seite und zeigt die richtige Adresse.",
  inferenceOnly:
    "Mit diesem Schlüssel können Sie chatten. Um Modelle zu laden oder den Server zu ändern, brauchen Sie einen Verwaltungsschlüssel.",
  appearance: "Darstellung",
  theme: "Farben",
  themeSystem: "Wie das System",
  themeLight: "Hell",
  themeDark: "Dunkel",
  language: "Sprache",
  languageNames: { en: "English", de: "Deutsch" },
  about: "Über Ingle",
  version: "Version",
  aboutText:
    "Sprachmodelle auf Ihrem eigenen Rechner. Chats bleiben in diesem Browser; nichts wird sonst wohin gesendet.",
};
