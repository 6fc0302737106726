/** How many items a page of a list has. */
export const pageSize = 200;

/** The items of all pages of a list, in their order. */
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
