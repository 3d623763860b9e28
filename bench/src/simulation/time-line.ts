// A priority queue of values by time, for events that happen once and are not moved: messages still being written, replies
// that end, and replicas that start.

export class TimeLine<Value> {
  readonly #times: number[] = [];
  readonly #values: Value[] = [];

  get length(): number {
    return this.#times.length;
  }

  /** The earliest time; Infinity if it is empty. */
  get time(): number {
    return this.#times[0] ?? Infinity;
  }

  add(time: number, value: Value): void {
    const [times, values] = [this.#times, this.#values];
    let place = times.length;
    times.push(time);
    values.push(value);
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if ((times[parent] ?? 0) <= time) break;
      this.#copy(parent, place);
      place = parent;
    }
    times[place] = time;
    values[place] = value;
  }

  /** All entries, in no particular order. */
  *entries(): Generator<readonly [number, Value]> {
    for (const [place, value] of this.#values.entries()) yield [this.#times[place] ?? Infinity, value];
  }

  /** Removes and returns the earliest value; undefined if it is empty. */
  take(): Value | undefined {
    const [times, values] = [this.#times, this.#values];
    const first = values[0];
    const time = times.pop();
    const value = values.pop();
    if (time === undefined || value === undefined || times.length === 0) return first;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= times.length) break;
      if (child + 1 < times.length && (times[child + 1] ?? 0) < (times[child] ?? 0)) child += 1;
      if ((times[child] ?? 0) >= time) break;
      this.#copy(child, place);
      place = child;
    }
    times[place] = time;
    values[place] = value;
    return first;
  }

  #copy(from: number, to: number): void {
    const [time, value] = [this.#times[from], this.#values[from]];
    if (time === undefined || value === undefined) return;
    this.#times[to] = time;
    this.#values[to] = value;
  }
}
