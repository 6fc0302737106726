/** Removes an item from a list, if it is there. */
export function removeFrom<T>(list: T[], item: T): void {
  const place = list.indexOf(item);
  if (place >= 0) list.splice(place, 1);
}
