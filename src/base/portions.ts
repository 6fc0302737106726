/** Passes on items in portions, one after another. If that fails, puts back the items that were not passed on, and rejects. */
export async function inPortions<T>(
  items: readonly T[],
  size: number,
  passOn: (portion: readonly T[]) => Promise<unknown>,
  putBack: (rest: readonly T[]) => void,
): Promise<void> {
  for (let i = 0; i < items.length; i += size) {
    try {
      await passOn(items.slice(i, i + size));
    } catch (error) {
      putBack(items.slice(i));
      throw error;
    }
  }
}
