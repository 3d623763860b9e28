// The bar above the messages: the models, and buttons for what can be opened beside the chat.
import { openChat } from "../chats/chat-store.ts";
import { IconButton } from "../design/button.tsx";
import { strings } from "../strings/strings.ts";
import { AnswersMenu, ModelPicker } from "./model-picker.tsx";
import { ModelStates } from "./model-state.tsx";
import { listIsOpen, panelIsOpen, treeIsOpen } from "./ui-state.ts";

export function ChatHeader() {
  const { chat, sampling } = strings.value;
  const isEmpty = (openChat.value?.tree.nodes.size ?? 0) === 0;
  return (
    <header class="chat-header">
      <div class="chat-header-row">
        <span class="only-narrow">
          <IconButton
            icon="menu"
            label={chat.openList}
            aria-expanded={listIsOpen.value}
            onClick={() => (listIsOpen.value = true)}
          />
        </span>
        <ModelPicker />
        <span class="chat-header-space" />
        <AnswersMenu />
        <IconButton
          icon="branch"
          label={chat.tree}
          disabled={isEmpty}
          onClick={() => (treeIsOpen.value = true)}
        />
        <IconButton
          icon="sliders"
          label={panelIsOpen.value ? sampling.close : sampling.open}
          aria-expanded={panelIsOpen.value}
          onClick={() => (panelIsOpen.value = !panelIsOpen.value)}
        />
      </div>
      <ModelStates />
    </header>
  );
}
