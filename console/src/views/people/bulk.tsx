// Actions on several people.
import type { Person } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import type { BulkProps } from "../../shell/bulk.ts";
import { GiveRole, TakeRoles } from "../../shell/bulk-roles.tsx";
import { usePeopleAddress } from "./address.ts";

/** The dialog that gives people a role. */
export function GivePeopleRole(props: BulkProps<Person>) {
  const { org } = usePeopleAddress();
  return <GiveRole {...props} within={org} identityOf={uidOf} />;
}

/** The dialog that takes roles from people. */
export function TakePeoplesRoles(props: BulkProps<Person>) {
  const { org, search } = usePeopleAddress();
  return <TakeRoles {...props} within={search.group ?? org} identityOf={uidOf} />;
}

function uidOf({ identity }: Person): string {
  return identity?.uid ?? "";
}
