// Which keys send a message, in the composer and while a message is edited.

/** On a touch screen, Enter starts a new line: Shift+Enter is hard to type there. */
export const hasKeyboard = matchMedia("(pointer: fine)");

/** Whether this press of Enter sends. While an input method composes a character, Enter belongs to the input method. */
export function isSendKey(event: KeyboardEvent): boolean {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return false;
  return hasKeyboard.matches || event.ctrlKey || event.metaKey;
}
