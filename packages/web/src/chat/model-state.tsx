// Shows the progress of a chosen model that is loading, or why it could not be loaded. The chat stays usable meanwhile.
import { linkTo } from "../app/router.ts";
import { live, modelOf } from "../connection/connection.ts";
import { Icon } from "../design/icon.tsx";
import { Progress } from "../design/progress.tsx";
import { strings } from "../strings/strings.ts";
import { currentChoice } from "./current-chat.ts";

export function ModelStates() {
  if (live.value === null) return null;
  return (
    <div class="model-states" role="status">
      {currentChoice.value.models.map((id) => {
        const text = strings.value.chat;
        const model = modelOf(id);
        if (model === undefined) return <Problem key={id} sentence={text.modelGone(id)} />;
        if (model.status === "failed")
          return <Problem key={id} sentence={text.modelFailed(id, model.error ?? "")} />;
        if (model.status === "preparing")
          return <Loading key={id} label={text.preparingModel(id)} progress={null} />;
        if (model.status === "loading")
          return <Loading key={id} label={text.loadingModel(id)} progress={model.progress} />;
        return null;
      })}
    </div>
  );
}

function Loading({ label, progress }: { label: string; progress: number | null }) {
  return (
    <div class="model-state">
      <span>{label}</span>
      <Progress label={label} value={progress} />
    </div>
  );
}

function Problem({ sentence }: { sentence: string }) {
  return (
    <div class="model-state problem">
      <Icon name="error" size={18} />
      <span>{sentence}</span>
      <a href={linkTo("library")}>{strings.value.app.library}</a>
    </div>
  );
}
