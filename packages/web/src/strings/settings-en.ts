// English of the settings, beyond how the page looks.
export const settingsEn = {
  chats: "Chats",
  chatsText: "Chats are kept in this browser only.",
  chatCount: (count: string) => `There are ${count}.`,
  defaultPreset: "New chats begin with",
  defaultPresetHint: "Presets are made in the settings beside a chat.",
  noPreset: "No preset",
  exportChats: "Export all",
  importChats: "Import…",
  deleteChats: "Delete all…",
  deleteTitle: "Delete all chats?",
  deleteText: (count: string) =>
    `All ${count} chats of this browser are deleted. Export them first to keep a copy.`,
  deleteAction: "Delete all chats",
  machine: "This machine",
  machineText: (processor: string, cores: string, memory: string) =>
    `${processor} · ${cores} · ${memory} of memory`,
  machineLink: "More about this machine",
  licenseText:
    "Ingle is free software under the MIT license. llama.cpp is, too; a model has the license of its makers.",
  docs: "API reference of this server",
};
