// Finds role bindings that give less than their place says.
import type { Condition } from "../list/condition.ts";
import { sql } from "../schema/drizzle.ts";
import { isHeldAtRoot } from "./grants.ts";

/**
 * The condition of such bindings. Agrees with `effectiveGroup`: the identity belongs to a subgroup, and the group of the binding is not in
 * that subgroup.
 */
export const confinedBindings: Pick<Condition, "name" | "build" | "values"> = {
  name: "confined",
  build: ({ tables: { roleBindings } }) => {
    const { identityUid, parent } = roleBindings;
    const home = sql`length(${identityUid}) - 16`;
    return sql`(not (${isHeldAtRoot(identityUid)}) and
      substr(${parent} || '/', 1, ${home}) <> substr(${identityUid}, 1, ${home}))`;
  },
  values: {},
};
