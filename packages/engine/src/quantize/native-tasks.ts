// What native-process.ts and native-child.ts say to each other.
import type { EngineErrorCode, EngineErrorDetails } from "../errors.ts";
import type { NativeImatrixOptions, NativeImatrixResult, NativeQuantizeOptions } from "../native.ts";

/** The work that is done in a process of its own: what it takes, what it tells on the way, what it gives. */
export interface NativeTasks {
  plan: { options: NativeQuantizeOptions; news: never; result: number };
  /** The news is the name of the tensor that is begun. */
  quantize: { options: NativeQuantizeOptions; news: string; result: void };
  imatrix: {
    options: NativeImatrixOptions;
    news: { done: number; total: number };
    result: NativeImatrixResult;
  };
}

export type TaskName = keyof NativeTasks;

/** The one message to the child. */
export type TaskOrder = {
  [Name in TaskName]: { name: Name; options: NativeTasks[Name]["options"] };
}[TaskName];

/** Messages of the child: any number of news, then one of the others. */
export type TaskReport<Name extends TaskName> =
  | { kind: "news"; news: NativeTasks[Name]["news"] }
  | { kind: "done"; result: NativeTasks[Name]["result"] }
  | { kind: "failed"; code: EngineErrorCode; message: string; details: EngineErrorDetails };
