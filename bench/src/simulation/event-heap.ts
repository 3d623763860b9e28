// A priority queue of times by number, earliest first, for replicas: each has one next event that often changes.

const root = 0;

/** A binary heap with an entry for each of `0 … size - 1`; setting an entry's time moves it. */
export class EventHeap {
  readonly #times: Float64Array;
  /** Entry at each heap position, and heap position of each entry (-1 if it is not queued). */
  readonly #who: Int32Array;
  readonly #where: Int32Array;
  #count = 0;

  constructor(size: number) {
    this.#times = new Float64Array(size);
    this.#who = new Int32Array(size);
    this.#where = new Int32Array(size).fill(-1);
  }

  /** The earliest time; Infinity if the heap is empty. */
  get time(): number {
    return this.#count === 0 ? Infinity : this.#timeAt(root);
  }

  /** The entry with the earliest time; -1 if the heap is empty. */
  get next(): number {
    return this.#count === 0 ? -1 : (this.#who[root] ?? -1);
  }

  /** Sets an entry's time; Infinity removes it. */
  set(who: number, time: number): void {
    let place = this.#where[who] ?? -1;
    if (time === Infinity) {
      if (place >= 0) this.#remove(place);
      return;
    }
    if (place < 0) {
      place = this.#count;
      this.#count += 1;
      this.#put(place, who);
    }
    this.#times[who] = time;
    this.#settle(place);
  }

  #remove(place: number): void {
    this.#where[this.#who[place] ?? 0] = -1;
    this.#count -= 1;
    if (place === this.#count) return;
    this.#put(place, this.#who[this.#count] ?? 0);
    this.#settle(place);
  }

  #settle(start: number): void {
    let place = start;
    const who = this.#who[place] ?? 0;
    const time = this.#times[who] ?? Infinity;
    while (place > root) {
      const parent = (place - 1) >> 1;
      if (this.#timeAt(parent) <= time) break;
      this.#put(place, this.#who[parent] ?? 0);
      place = parent;
    }
    for (;;) {
      let child = 2 * place + 1;
      if (child >= this.#count) break;
      if (child + 1 < this.#count && this.#timeAt(child + 1) < this.#timeAt(child)) child += 1;
      if (this.#timeAt(child) >= time) break;
      this.#put(place, this.#who[child] ?? 0);
      place = child;
    }
    this.#put(place, who);
  }

  #timeAt(place: number): number {
    return this.#times[this.#who[place] ?? 0] ?? Infinity;
  }

  #put(place: number, who: number): void {
    this.#who[place] = who;
    this.#where[who] = place;
  }
}
