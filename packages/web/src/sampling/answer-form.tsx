// What the answer looks like: texts that end it, and a JSON schema; and what happens to a long chat.
import { changeSettings, currentChoice } from "../conversations/current-chat.ts";
import { Switch, TextAreaField } from "../design/field.tsx";
import { samplingText } from "../strings/sampling.ts";
import { schemaProblem, stopProblem } from "../conversations/settings-fields.ts";

export function AnswerForm() {
  const { stop = "", jsonSchema = "", rolling = false } = currentChoice.value.settings;
  const problem = stopProblem(stop);
  return (
    <section class="stack" aria-labelledby="answer-title">
      <h3 id="answer-title">{samplingText.answer}</h3>
      <TextAreaField
        label={samplingText.stop}
        hint={samplingText.stopHint}
        error={problem === null ? undefined : samplingText.stopProblems[problem]}
        rows={2}
        spellcheck={false}
        value={stop}
        onValue={(value) => void changeSettings({ stop: value })}
      />
      <TextAreaField
        label={samplingText.schema}
        hint={samplingText.schemaHint}
        error={schemaSentence(jsonSchema)}
        rows={4}
        spellcheck={false}
        placeholder={'{ "type": "object" }'}
        value={jsonSchema}
        onValue={(value) => void changeSettings({ jsonSchema: value })}
      />
      <Switch
        label={samplingText.rolling}
        hint={samplingText.rollingHint}
        isOn={rolling}
        onToggle={(isOn) => void changeSettings({ rolling: isOn })}
      />
    </section>
  );
}

function schemaSentence(typed: string): string | undefined {
  const problem = schemaProblem(typed);
  if (problem === null) return undefined;
  if (problem.kind === "notJson") return samplingText.schemaNotJson(problem.reason);
  return problem.kind === "noObject" ? samplingText.schemaNoObject : samplingText.schemaTooLong;
}
