// What of the chat page is open.
import { effect, signal } from "@preact/signals";

const panelKey = "ingle-chat-panel";

/** The list of conversations over the page, where there is no room beside it. */
export const listIsOpen = signal(false);

/** The settings, beside the chat or over it. */
export const panelIsOpen = signal(localStorage.getItem(panelKey) === "open");

export const treeIsOpen = signal(false);
export const shortcutsAreOpen = signal(false);

// A phone begins with the chat alone, whatever was open before.
const isNarrow = matchMedia("(max-width: 64rem)");
if (isNarrow.matches) panelIsOpen.value = false;

effect(() => {
  const { value } = panelIsOpen;
  if (!isNarrow.matches) localStorage.setItem(panelKey, value ? "open" : "closed");
});
