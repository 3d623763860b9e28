// useLoaded(): data that a component loads, such as from the server, and shows once it is available.
import { useEffect, useState } from "preact/hooks";

/**
 * What `load` resolved with for these inputs. Undefined before the first result and after a failure: a component that uses it can do
 * without. The previous result stays while the next one is loading; the signal aborts when nobody waits for it any more.
 */
export function useLoaded<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  inputs: readonly unknown[],
): Value | undefined {
  const [loaded, setLoaded] = useState<{ value?: Value }>({});
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const run = async () => {
      try {
        const value = await load(signal);
        if (!signal.aborted) setLoaded({ value });
      } catch {
        if (!signal.aborted) setLoaded({});
      }
    };
    void run();
    return () => stop.abort();
  }, inputs);
  return loaded.value;
}
