// The delegations of an organization that are not in force. Load the texts `delegations` with it.
import { useQuery } from "@connectrpc/connect-query";
import { FindingKind, FindingsService } from "../../../gen/gatehouse/organizations/v1/findings_pb.ts";
import { useMe } from "../api/access.ts";
import { useTexts } from "../texts/texts.ts";
import { inactivityText } from "./delegation-texts.ts";

/** Returns why delegations are not in force, by their uids: the maker has left, or has lost what they give. */
export function useInactive(org: string): ReadonlyMap<string, string> {
  const { t } = useTexts();
  const { data: me } = useMe();
  const request = { parent: org, kinds: [FindingKind.INACTIVE_DELEGATION], pageSize: 200 };
  const { data } = useQuery(FindingsService.method.listFindings, request, { enabled: me !== undefined });
  return new Map(
    data?.findings.flatMap(({ resourceUid, identity, details }) =>
      details.case === "delegation" ? [[resourceUid, inactivityText(t, details.value, identity)]] : [],
    ),
  );
}
