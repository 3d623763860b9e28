// The interface of the stores for responses and conversations: texts by unguessable ids, each readable only by its owner, within
// limits. The oldest records are evicted first.

/** How much a store may hold. */
export interface StoreLimits {
  /** Maximum number of records. */
  readonly countMax: number;
  /** Maximum size of all texts together, in UTF-8. */
  readonly bytesMax: number;
  /** Maximum age since a record was written, in milliseconds. */
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
  /** Returns whether this owner had such a record. */
  delete: (id: string, owner: string) => boolean;
  /** Removes expired records. */
  expire: () => void;
}
