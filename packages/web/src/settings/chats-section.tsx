// All chats of this browser: the default preset, export, import, and deletion.
import { useEffect, useRef } from "preact/hooks";

import { importFile, saveAllChats } from "../chat/chat-files.ts";
import { deleteConversation, setDefaultPreset } from "../chats/chat-changes.ts";
import { conversations, presets, startChats } from "../chats/chat-store.ts";
import { useAttempt } from "../connection/attempt.ts";
import { Button } from "../design/button.tsx";
import { FileInput, SelectField } from "../design/field.tsx";
import { ask } from "../design/question.tsx";
import { showError } from "../design/toast.tsx";
import { countText } from "../format/in-language.ts";
import { strings } from "../strings/strings.ts";

export function ChatsSection() {
  const text = strings.value.settings;
  const count = conversations.value.length;
  useEffect(() => {
    startChats().catch(showError);
  }, []);
  return (
    <section class="card stack" aria-labelledby="chats">
      <h2 id="chats">{text.chats}</h2>
      <p class="small soft">
        {text.chatsText} {count > 1 && text.chatCount(countText(count))}
      </p>
      <DefaultPreset />
      <ChatFiles />
    </section>
  );
}

function DefaultPreset() {
  const text = strings.value.settings;
  const [isBusy, attempt] = useAttempt();
  const choices = [
    { value: "", label: text.noPreset },
    ...presets.value.map(({ id, name }) => ({ value: id, label: name })),
  ];
  return (
    <SelectField
      label={text.defaultPreset}
      hint={text.defaultPresetHint}
      value={presets.value.find(({ isDefault }) => isDefault)?.id ?? ""}
      choices={choices}
      disabled={isBusy}
      onValue={(id) => void attempt(() => setDefaultPreset(id === "" ? null : id))}
    />
  );
}

function ChatFiles() {
  const text = strings.value.settings;
  const file = useRef<HTMLInputElement>(null);
  const [isBusy, attempt] = useAttempt();
  const isEmpty = conversations.value.length === 0;
  return (
    <div class="row">
      <Button icon="download" disabled={isEmpty} isBusy={isBusy} onClick={() => void attempt(saveAllChats)}>
        {text.exportChats}
      </Button>
      <Button icon="upload" disabled={isBusy} onClick={() => file.current?.click()}>
        {text.importChats}
      </Button>
      <Button kind="danger" icon="trash" disabled={isEmpty || isBusy} onClick={() => void attempt(deleteAll)}>
        {text.deleteChats}
      </Button>
      <FileInput
        input={file}
        label={text.importChats}
        accept="application/json,.json"
        onFiles={([first]) => first !== undefined && void attempt(() => importFile(first))}
      />
    </div>
  );
}

async function deleteAll(): Promise<void> {
  const text = strings.value.settings;
  const all = conversations.value;
  const question = {
    title: text.deleteTitle,
    text: text.deleteText(countText(all.length)),
    action: text.deleteAction,
    isDangerous: true,
  };
  if (!(await ask(question))) return;
  for (const { id } of all) await deleteConversation(id);
}
