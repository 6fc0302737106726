// The request of a denied caller: a role for a time that gives what they lack. Load the texts `requests` with it.
import { getOption } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import {
  type Capability,
  CapabilitySchema,
  name as capabilityName,
} from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { RolesService } from "../../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { may, useMe } from "../../api/access.ts";
import { parentOf } from "../../api/uids.ts";
import { useTexts } from "../../texts/texts.ts";
import { ActionButton } from "../parts.tsx";
import { useRequestable } from "./my-requests.ts";
import { RequestDialog } from "./request-dialog.tsx";

const { listRoles } = RolesService.method;

/** Offers to request a role that has the capabilities, at a group, at that of a resource, or anywhere. Nothing if no rule lets the caller do so. */
export function RequestAccess({
  uid,
  capabilities,
}: {
  readonly uid: string;
  readonly capabilities: readonly string[];
}) {
  const { t } = useTexts();
  const [isOpen, setOpen] = useState(false);
  const group = useRequestableGroup(uid);
  const role = useHelpfulRole(group, capabilities);
  if (role === undefined) return null;
  return (
    <div className="row">
      <span>{t(uid === "" ? "requests.possible" : "requests.denied")}</span>
      <ActionButton missing={[]} variant="filled" onClick={() => setOpen(true)}>
        {t("requests.new")}
      </ActionButton>
      {isOpen && <RequestDialog preset={{ group: group || undefined, role }} onClose={() => setOpen(false)} />}
    </div>
  );
}

/** Returns the group of a resource, or the resource itself if it is a group: at others nothing can be requested. */
function useRequestableGroup(uid: string): string {
  const { data } = useRequestable(uid);
  return data?.requestableRoles.length === 0 ? parentOf(uid) || uid : uid;
}

/** Returns the uid of a role that the caller may request and that has the capabilities, as far as the caller may read that. */
function useHelpfulRole(group: string, capabilities: readonly string[]): string | undefined {
  const { data: me } = useMe();
  const { data } = useRequestable(group);
  const offered = [...new Set(data?.requestableRoles.map(({ roleUid }) => roleUid))];
  const isRead = offered.length > 0 && may(me, listRoles);
  const { data: read } = useQuery(listRoles, { uidp: { ids: offered }, pageSize: 200 }, { enabled: isRead });
  if (isRead && !read) return undefined;
  const needed = CapabilitySchema.values
    .filter((value) => capabilities.includes(getOption(value, capabilityName)))
    .map(({ number }) => number as Capability);
  const unhelpful = new Set(
    read?.roles.filter((role) => !needed.every((one) => role.capabilities.includes(one))).map((role) => role.uid),
  );
  return offered.find((one) => !unhelpful.has(one));
}
