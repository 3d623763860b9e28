// The requests of lm-evaluation-harness (`--model local-completions`), and how it reads the responses: facts from its
// lm_eval/models/openai_completions.py and api_models.py. Its prompts are token ids, in batches.
import type { Completion, CompletionBody } from "@ingle/protocol";

const seed = 1234;

/** A context and its continuation, whose log probability a task asks for. */
export interface Continuation {
  context: number[];
  continuation: number[];
}

/** For `loglikelihood` and, with windows for continuations, `loglikelihood_rolling`. */
export function loglikelihoodRequest(model: string, batch: readonly Continuation[]): CompletionBody {
  return {
    model,
    prompt: batch.map(({ context, continuation }) => [...context, ...continuation]),
    temperature: 0,
    max_tokens: 1,
    logprobs: 1,
    seed,
    echo: true,
  };
}

/** The continuations of a whole text: windows of at most `lengthMax` tokens, each predicted from the token before it and what fits. */
export function rollingWindows(tokens: readonly number[], prefix: number, lengthMax: number): Continuation[] {
  const windows: Continuation[] = [];
  const all = [prefix, ...tokens];
  for (let done = 0; done < tokens.length;) {
    const end = Math.min(tokens.length, done + lengthMax);
    const isFirst = done === 0;
    // Later windows end with the new tokens and begin with old ones, so that all are full.
    const begin = isFirst ? 0 : Math.max(0, end - lengthMax);
    const from = isFirst ? 1 : 1 + done;
    windows.push({ context: all.slice(begin, from), continuation: all.slice(from, end + 1) });
    done = end;
  }
  return windows;
}

/** For `generate_until`. */
export function generateUntilRequest(
  model: string,
  batch: readonly number[][],
  { until, maxTokens }: { until: string[]; maxTokens: number },
): CompletionBody {
  return { model, prompt: [...batch], max_tokens: maxTokens, temperature: 0, stop: until, seed };
}

export interface Loglikelihood {
  logprob: number;
  isGreedy: boolean;
}

/** What the harness takes from a response: of each choice the tokens between its context and the last one, which was generated. */
export function readLoglikelihoods({ choices }: Completion, batch: readonly Continuation[]): Loglikelihood[] {
  return batch.map(({ context }, index) => {
    const { token_logprobs, top_logprobs } = choices[index]?.logprobs ?? {
      token_logprobs: [],
      top_logprobs: [],
    };
    const own = token_logprobs.slice(context.length, -1).map(Number);
    const top = top_logprobs.slice(context.length, -1).map((each) => Math.max(...Object.values(each ?? {})));
    return {
      logprob: own.reduce((sum, one) => sum + one, 0),
      isGreedy: own.every((one, place) => one === top[place]),
    };
  });
}
