import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { checkKeepsOperators, inGroup, noInternal } from "../../kinds/import-checks.ts";
import { importKind, type Transfer } from "../../kinds/import-kind.ts";
import { role } from "./roles.ts";

/** The import of roles. */
export const roleImport: Transfer = {
  name: "role",
  declare: () =>
    importKind<typeof role.schema, Parameters<typeof role.toMessage>[0]>({
      ...inGroup,
      resource: role,
      isIndependent: () => true,
      toRow: (message, own) => ({ ...role.toRow(message), ...own }),
      async check(session, { capabilities }, before) {
        if (capabilities.includes(Capability.CAP_INTERNAL)) return [{ field: "capabilities", description: noInternal }];
        return before ? await checkKeepsOperators(session, before.uid, "capabilities") : [];
      },
    }),
};
