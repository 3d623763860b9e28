// Which parts of the chat page are open.
import { effect, signal } from "@preact/signals";

const panelKey = "ingle-chat-panel";

/** The list of conversations, as a drawer on a narrow page. */
export const listIsOpen = signal(false);

/** The settings: beside the chat, or as a drawer on a narrow page. */
export const panelIsOpen = signal(localStorage.getItem(panelKey) === "open");

export const treeIsOpen = signal(false);
export const shortcutsAreOpen = signal(false);

// A narrow page starts with the chat alone.
const isNarrow = matchMedia("(max-width: 64rem)");
if (isNarrow.matches) panelIsOpen.value = false;

effect(() => {
  const { value } = panelIsOpen;
  if (!isNarrow.matches) localStorage.setItem(panelKey, value ? "open" : "closed");
});
