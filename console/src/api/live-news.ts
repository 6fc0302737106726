// The messages of the tabs of a browser to each other about changes.

/** How often the tabs are told that the page is up to date, and how long a polling tab waits between two looks, in milliseconds. */
export const pauseMs = 3000;

/** The messages of the tabs to each other. */
export interface News {
  readonly organization: string;
  readonly kinds: readonly string[];
  /** The uids of deleted resources. */
  readonly deleted: readonly string[];
  /** Everything that was read before this time is read again; 0 for nothing. */
  readonly since: number;
  /** Whether the person may do more or less than before. */
  readonly isAccessChanged: boolean;
  readonly time: number;
  /** The position in the change log: the tab that follows next continues there. */
  readonly after: string;
}

/** The organization that a tab follows, and the position that it has come to. */
export interface Following {
  readonly organization: string;
  after: string;
}
