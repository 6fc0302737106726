import {
  AccountAssociationsSchema,
  GroupAccountAssociations,
} from "../../gen/chainguard/platform/iam/v1/account_associations_pb.ts";
import {
  AccountAssociationSchema,
  AccountAssociationsService,
} from "../../gen/chainguard/platform/iam/v2beta1/account_associations_pb.ts";
import { passThrough, putAsUpdate, serve, type V1Implementation } from "./adapter.ts";
import type { CurrentApi } from "./current-api.ts";
import { type FieldNames, mapMessages } from "./fields.ts";
import { list } from "./lists.ts";

const [v1, current] = [GroupAccountAssociations.method, AccountAssociationsService.method];

/** An association has the uid of its group. */
const names: FieldNames = { group: "uid" };

const association = mapMessages(AccountAssociationsSchema, AccountAssociationSchema, names);

/** Serves account associations in version 1. */
export function accountAssociations(api: CurrentApi): V1Implementation {
  return serve(GroupAccountAssociations, {
    create: passThrough(api, v1.create, current.createAccountAssociation, {
      names: { group: "parent" },
      responseNames: names,
      request: (message) => ({ parent: message.group, accountAssociation: association.toCurrent(message) }),
    }),
    update: putAsUpdate(api, v1.update, current.updateAccountAssociation, { names }),
    list: list(api, v1.list, current.listAccountAssociations, {
      itemNames: names,
      places: { group: "ids" },
    }),
    delete: passThrough(api, v1.delete, current.deleteAccountAssociation, { names }),
    check: passThrough(api, v1.check, current.checkAccountAssociation, {
      names: { group: "uid", account_type: "provider_type", ready: "status" },
    }),
  });
}
