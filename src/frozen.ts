// Lists are frozen that are shown again and again: what is made of them is made once.

/**
 * Makes something of lists; of a frozen one once, and keeps it for as long as somebody has the list. What a frozen list holds
 * must stay as it is, too.
 */
export function onceFrozen<T, M>(make: (list: readonly T[]) => M): (list: readonly T[]) => M {
  const made = new WeakMap<readonly T[], { readonly value: M }>();
  return (list) => {
    if (!Object.isFrozen(list)) return make(list);
    let known = made.get(list);
    if (!known) {
      known = { value: make(list) };
      made.set(list, known);
    }
    return known.value;
  };
}

/** Makes something of each item of a list; of a frozen list once, and the list that it makes is frozen as well. */
export function mapOnce<T, M>(make: (item: T) => M): (list: readonly T[]) => readonly M[] {
  return onceFrozen((list: readonly T[]) => {
    const made = list.map((item) => make(item));
    return Object.isFrozen(list) ? Object.freeze(made) : made;
  });
}
