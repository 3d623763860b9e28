// Where responses and conversations are kept between requests: texts by unguessable ids, each for its owner alone, within limits.
// The records that were written first are evicted first. Opened by open-store.ts.

/** How much a store may hold. */
export interface StoreLimits {
  /** Records. */
  readonly countMax: number;
  /** Of all texts together, in UTF-8. */
  readonly bytesMax: number;
  /** Since a record was written, in milliseconds. */
  readonly ageMaxMs: number;
}

export interface StoredRecord {
  readonly id: string;
  /** Who may read it. */
  readonly owner: string;
  readonly text: string;
}

export interface RecordStore extends Disposable {
  /** Undefined if there is no such record, or it is another owner's. */
  get: (id: string, owner: string) => string | undefined;
  /** Adds or replaces a record, which becomes the newest. False, with no change, if it is larger than the whole store may be. */
  put: (record: StoredRecord) => boolean;
  /** Whether there was such a record of this owner. */
  delete: (id: string, owner: string) => boolean;
  /** Removes what is too old. */
  expire: () => void;
}
