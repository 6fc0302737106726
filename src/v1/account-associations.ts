import {
  AccountAssociationsSchema,
  GroupAccountAssociations,
} from "../../gen/chainguard/platform/iam/v1/account_associations_pb.ts";
import {
  AccountAssociationSchema,
  AccountAssociationsService,
} from "../../gen/chainguard/platform/iam/v2beta1/account_associations_pb.ts";
import { replace, same, serve, type V1Implementation } from "./adapter.ts";
import type { Today } from "./current-api.ts";
import { correspond, type Names } from "./fields.ts";
import { list } from "./lists.ts";

const [v1, now] = [GroupAccountAssociations.method, AccountAssociationsService.method];

/** An association goes by its group, which gives it its uid. */
const names: Names = { group: "uid" };

const association = correspond(AccountAssociationsSchema, AccountAssociationSchema, names);

/** Serves account associations as version 1 has them. */
export function accountAssociations(today: Today): V1Implementation {
  return serve(GroupAccountAssociations, {
    create: same(today, v1.create, now.createAccountAssociation, {
      names: { group: "parent" },
      replyNames: names,
      request: (message) => ({ parent: message.group, accountAssociation: association.toNow(message) }),
    }),
    update: replace(today, v1.update, now.updateAccountAssociation, { names }),
    list: list(today, v1.list, now.listAccountAssociations, {
      itemNames: names,
      places: { group: "ids" },
    }),
    delete: same(today, v1.delete, now.deleteAccountAssociation, { names }),
    check: same(today, v1.check, now.checkAccountAssociation, {
      names: { group: "uid", account_type: "provider_type", ready: "status" },
    }),
  });
}
