import { create } from "@bufbuild/protobuf";
import {
  AccountAssociationSchema,
  AccountAssociationsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/account_associations_pb.ts";
import { AccountAssociationSpecSchema } from "../../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { type ResourceEvents, resourceEvents } from "../../../resource/method-event.ts";
import { rowView } from "../../../resource/row-view.ts";
import { accountAssociationCollection } from "../../../storage/iam/collections.ts";
import type { AccountAssociationRow } from "../../../storage/iam/rows.ts";
import { defineKind, type Recorded } from "../../kinds/kind.ts";
import { shown } from "../../kinds/missing.ts";
import { joinPath, type Names, parentPath } from "../../kinds/names.ts";
import type { SpecOf, Uids } from "../../kinds/spec.ts";
import { accountAssociations, associationMessage } from "./account-associations.ts";
import { accountAssociationImport } from "./import.ts";

const { createAccountAssociation, updateAccountAssociation, deleteAccountAssociation } =
  AccountAssociationsService.method;

const recorded: ResourceEvents<typeof AccountAssociationSchema, AccountAssociationRow> = {
  collection: accountAssociationCollection,
  schema: AccountAssociationSchema,
  message: associationMessage,
  // An association has the uid of its group.
  group: (uid) => uid,
};

/** The recording of changes of account associations. */
const recordedAssociations: Recorded = {
  views: [rowView(recorded, associationMessage)],
  events: () => [
    ...resourceEvents([createAccountAssociation, updateAccountAssociation], recorded),
    // Published contract: the event has no body.
    ...resourceEvents([deleteAccountAssociation], recorded).map((event) => ({ ...event, body: () => undefined })),
  ],
};

type Spec = SpecOf<"accountAssociation">;

/** Account associations. */
export const accountAssociationKind = defineKind({
  name: "accountAssociation",
  schema: AccountAssociationSchema,
  service: AccountAssociationsService,
  collection: accountAssociationCollection,
  implement: (context) => accountAssociations(context),
  transfer: [accountAssociationImport],
  recorded: recordedAssociations,
  file: {
    references: ["identity"],
    nameOf: ({ name }, _names, group) => ({ name: group === "" ? name : group, key: group }),
    missing: ({ serviceBindings }, names, group) =>
      Object.entries(serviceBindings).flatMap(([service, name]) => {
        if (names.find("identity", joinPath(group, name))) return [];
        return [
          { field: `service_bindings[${JSON.stringify(service)}]`, description: `${shown(name)} does not exist` },
        ];
      }),
    toSpec,
    toMessage,
    errorFields: { "chainguard.service_bindings": "service_bindings" },
    maskPaths: { service_bindings: "chainguard" },
    hasUidOfGroup: true,
  },
});

function toSpec(row: AccountAssociationRow, names: Names): Spec {
  const { name = "", description = "", amazon, google, azure, github, chainguard } = associationMessage(row);
  const bindings = Object.entries(chainguard?.serviceBindings ?? {}).map(([service, uid]) => {
    const path = names.findPath(uid);
    return [service, path === undefined ? uid : path.slice(parentPath(path).length).replace(/^\//, "")];
  });
  return create(AccountAssociationSpecSchema, {
    group: names.pathOf(row.uid),
    name,
    description,
    ...(amazon && { amazon }),
    ...(google && { google }),
    ...(azure && { azure }),
    ...(github && { github }),
    serviceBindings: Object.fromEntries(bindings),
  });
}

function toMessage({ group, name, description, amazon, google, azure, github, serviceBindings }: Spec, uids: Uids) {
  const bindings = Object.entries(serviceBindings).map(([service, identity]) => [
    service,
    uids.identity(joinPath(group, identity)),
  ]);
  const chainguard = bindings.length > 0 ? { serviceBindings: Object.fromEntries(bindings) } : undefined;
  return { name, description, amazon, google, azure, github, chainguard };
}
