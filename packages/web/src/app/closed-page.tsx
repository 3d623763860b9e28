// What an unauthenticated page shows: a form for the API key, or how to open the app.
import { useState } from "preact/hooks";

import { session, signIn } from "../connection/client.ts";
import { connectNow } from "../connection/connection.ts";
import { Button } from "../design/button.tsx";
import { CodeWords } from "../design/code-words.tsx";
import { EmptyState } from "../design/empty-state.tsx";
import { Field, PasswordInput } from "../design/field.tsx";
import { showError } from "../design/toast.tsx";
import { strings } from "../strings/strings.ts";

export function ClosedPage() {
  const text = strings.value.app;
  if (session.value?.is_app === true)
    return (
      <EmptyState icon="app" title={text.appClosedTitle} text={<CodeWords text={text.appClosedText} />} />
    );
  return (
    <EmptyState icon="key" title={text.keyTitle} text={text.keyText}>
      <KeyForm />
    </EmptyState>
  );
}

function KeyForm() {
  const text = strings.value.app;
  const [key, setKey] = useState("");
  const [isWrong, setWrong] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      const isAccepted = await signIn(key.trim());
      setWrong(!isAccepted);
      if (isAccepted) connectNow();
    } catch (error) {
      showError(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="key-form" onSubmit={(event) => void submit(event)}>
      <Field label={text.keyLabel} error={isWrong ? text.keyWrong : undefined}>
        {(control) => <PasswordInput {...control} autocomplete="off" required value={key} onValue={setKey} />}
      </Field>
      <Button kind="primary" type="submit" isBusy={isBusy}>
        {text.keyOpen}
      </Button>
    </form>
  );
}
