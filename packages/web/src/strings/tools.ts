// Texts about tools: the dialog of MCP servers, and the calls in a reply.
import { say, texts } from "./language.ts";

export const toolsText = texts({
  tools: ["Tools", "Werkzeuge"],
  open: (count: number) =>
    count === 0
      ? say("Tools", "Werkzeuge")
      : say(`Tools: ${count} in this chat`, `Werkzeuge: ${count} in diesem Chat`),
  hint: [
    "The models of this chat may call the tools of the MCP servers that you turn on. You are asked before each call, unless a rule of the file allows it.",
    "Die Modelle dieses Chats dürfen die Werkzeuge der MCP-Server aufrufen, die Sie einschalten. Vor jedem Aufruf werden Sie gefragt, außer eine Regel der Datei erlaubt ihn.",
  ],
  file: (path: string) => say(`The servers are listed in ${path}.`, `Die Server stehen in ${path}.`),
  off: ["Tools are turned off: INGLE_MCP is “none”.", "Werkzeuge sind ausgeschaltet: INGLE_MCP ist „none“."],
  fileProblem: (reason: string) =>
    say(`The file cannot be used: ${reason}`, `Die Datei kann nicht verwendet werden: ${reason}`),
  none: (path: string) =>
    say(
      `There are no MCP servers. List them in ${path}, in the format of Claude Desktop, Cursor and LM Studio.`,
      `Es gibt keine MCP-Server. Tragen Sie sie in ${path} ein, im Format von Claude Desktop, Cursor und LM Studio.`,
    ),
  states: {
    stopped: ["Not running", "Läuft nicht"],
    starting: ["Starting…", "Startet …"],
    ready: ["Running", "Läuft"],
    failed: ["Could not start", "Start fehlgeschlagen"],
    ended: ["Has ended", "Ist beendet"],
    disabled: ["Disabled in the file", "In der Datei abgeschaltet"],
  },
  stop: (name: string) => say(`Stop ${name}`, `${name} stoppen`),
  toolCount: (count: string) =>
    count === "1" ? say("1 tool", "1 Werkzeug") : say(`${count} tools`, `${count} Werkzeuge`),
  allowed: ["always allowed", "immer erlaubt"],
  asksFirst: ["asks first", "fragt zuerst"],
  notRunning: (names: string) =>
    say(
      `The models cannot call the tools of ${names}: not running.`,
      `Die Modelle können die Werkzeuge von ${names} nicht aufrufen: läuft nicht.`,
    ),
  call: (tool: string, server: string) => say(`${tool} of ${server}`, `${tool} von ${server}`),
  statuses: {
    waiting: ["waiting", "wartet"],
    asking: ["needs your approval", "braucht Ihre Zustimmung"],
    running: ["running", "läuft"],
    done: ["done", "fertig"],
    failed: ["failed", "fehlgeschlagen"],
    refused: ["refused", "abgelehnt"],
    stopped: ["stopped", "gestoppt"],
  },
  arguments: ["Arguments", "Argumente"],
  result: ["Result", "Ergebnis"],
  resultImage: ["Image from the tool", "Bild vom Werkzeug"],
  question: (tool: string, server: string) =>
    say(`Run ${tool} of ${server}?`, `${tool} von ${server} ausführen?`),
  allowOnce: ["Allow once", "Einmal erlauben"],
  allowAlways: ["Always allow this tool", "Dieses Werkzeug immer erlauben"],
  allowAlwaysHint: ["Until its server is stopped", "Bis sein Server gestoppt wird"],
  refuse: ["Refuse", "Ablehnen"],
});
