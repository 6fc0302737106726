// The question that all servers are asked: may this caller, who has a role in the organization, read this group four levels below?

/** A group of the tree. Its parent comes before it; the organization is the parent of the first ones. */
export interface TreeGroup {
  readonly id: string;
  readonly parent: string;
}

/** The root of the tree, in which the caller has a role. */
export const organization = "organization";

/** The caller, and a name that nobody has given a role. */
export const caller = "caller";
export const stranger = "stranger";

const fanOut = 10;

/** Ten groups below each group down to the third level, and one below each of these 1000. */
export const tree: readonly TreeGroup[] = (() => {
  const groups: TreeGroup[] = [];
  let parents = [organization];
  for (let level = 1; level <= 4; level++) {
    const width = level === 4 ? 1 : fanOut;
    const made = parents.flatMap((parent) =>
      Array.from({ length: width }, (_, i) => ({ id: level === 1 ? `g${i}` : `${parent}-${i}`, parent })),
    );
    groups.push(...made);
    parents = made.map(({ id }) => id);
  }
  return groups;
})();

/** The groups four levels below the organization. */
export const leaves: readonly string[] = tree.slice(-1000).map(({ id }) => id);
