// Who can grant what the caller lacks: as far as the caller may see it.

import { useQuery } from "@connectrpc/connect-query";
import { AccessService } from "../../../gen/gatehouse/access/v1/access_pb.ts";
import { may, useMe } from "../api/access.ts";
import { useTexts } from "../texts/texts.ts";
import { useOrganizationName } from "./organization.tsx";
import { ProfileLink } from "./profile-link.tsx";

const { whoCan } = AccessService.method;

/** Whoever may create role bindings at a group can grant what is missing there. */
const granting = "role_bindings.create";

/** How many are named. */
const pageSize = 5;

/** Names the identities that can grant something at a group, or says whose owner to ask. */
export function Owners({ uid }: { readonly uid: string }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const organization = useOrganizationName(uid.split("/")[0]);
  const request = { group: uid, capability: granting, pageSize };
  const { data } = useQuery(whoCan, request, { enabled: may(me, whoCan, uid) });
  const owners = (data?.identities ?? []).flatMap(({ identity }) => identity ?? []);
  if (owners.length === 0) return <p>{t("owners.ask", { organization })}</p>;
  return (
    <div>
      <p>{t("owners.lead")}</p>
      <ul>
        {owners.map((owner) => (
          <li key={owner.uid}>
            <ProfileLink identity={owner} />
          </li>
        ))}
      </ul>
    </div>
  );
}
