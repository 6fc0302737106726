// Reads whole lists of the API.

/** The page size of lists. */
export const pageSize = 200;

/** Returns the items of all pages of a list, in order. */
export async function readPages<R extends { nextPageToken: string }, T>(
  read: (pageToken: string) => Promise<R>,
  itemsOf: (reply: R) => readonly T[],
): Promise<T[]> {
  const found: T[] = [];
  let pageToken = "";
  do {
    const reply = await read(pageToken);
    found.push(...itemsOf(reply));
    pageToken = reply.nextPageToken;
  } while (pageToken !== "");
  return found;
}
