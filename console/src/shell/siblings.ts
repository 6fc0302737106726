// Siblings with equal names: the API allows them, but no file and no command can tell them apart.
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { UIDPFilterSchema } from "../../../gen/chainguard/platform/common/uidp_pb.ts";
import type { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import type { IdentitiesService } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import type { IdentityProvidersService } from "../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import type { RolesService } from "../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { may, useMe } from "../api/access.ts";
import { useTexts } from "../texts/texts.ts";
import type { Confirmation } from "./form.tsx";

type ListMethod =
  | typeof GroupsService.method.listGroups
  | typeof IdentitiesService.method.listIdentities
  | typeof RolesService.method.listRoles
  | typeof IdentityProvidersService.method.listIdentityProviders;

/** Returns a function that asks the server for a sibling with a name, and returns what to confirm if there is one. */
export function useSiblingCheck<M extends ListMethod>(method: M) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const transport = useTransport();
  return async (parent: string, name: string): Promise<Confirmation | undefined> => {
    if (name === "" || parent === "" || !may(me, method, parent)) return undefined;
    const request = { uidp: create(UIDPFilterSchema, { childrenOf: parent }), name, pageSize: 1 };
    const { totalCount } = await callUnaryMethod(
      transport,
      method as typeof GroupsService.method.listGroups,
      request as MessageInitShape<typeof GroupsService.method.listGroups.input>,
    );
    if (!totalCount) return undefined;
    return { text: t("sibling.text", { name }), button: t("sibling.button") };
  };
}
