// Writes the changes of a request in one transaction.
import type { ApplyResourcesRequest } from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { newYield } from "../../base/yielding.ts";
import type { Call } from "../../pipeline/call.ts";
import type { Implementation } from "../../pipeline/handlers.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import { subscriptions } from "../events/subscriptions/subscriptions.ts";
import { accountAssociations } from "../iam/account-associations/account-associations.ts";
import { externalGroupRoleMappings } from "../iam/external-group-role-mappings/external-group-role-mappings.ts";
import { groups } from "../iam/groups/groups.ts";
import { identities } from "../iam/identities/identities.ts";
import { identityProviders, type ProviderOptions } from "../iam/identity-providers/identity-providers.ts";
import { groupInvites } from "../iam/invites/group-invites.ts";
import { roleBindings } from "../iam/role-bindings/role-bindings.ts";
import { roles } from "../iam/roles/roles.ts";
import { repos } from "../registry/repos/repos.ts";
import { attemptTogether } from "./concurrent-runs.ts";
import { executePlan } from "./execute.ts";
import { type CallTogether, requireExpected, type ServicesOf, versionOf } from "./joined-calls.ts";
import { requireFewChanges } from "./limits.ts";
import { changingSteps, makePlan, type Plan } from "./plan.ts";

/** Returns the services that an apply and a deletion call. */
export function changingServices(context: ServiceContext, options: ProviderOptions): readonly Implementation[] {
  return [
    ...[groups(context), roles(context), identities(context), identityProviders(context, options)],
    ...[externalGroupRoleMappings(context), accountAssociations(context), repos(context)],
    ...[roleBindings(context), subscriptions(context), groupInvites(context)],
  ];
}

/** Returns the function that executes the plan of a request in a transaction, and returns it. It makes the plan again if something changed. */
export function planWriter({ database }: ServiceContext, options: ProviderOptions, callTogether: CallTogether) {
  return async (request: ApplyResourcesRequest, seen: Plan, call: Call): Promise<Plan> => {
    const changes = changingSteps(seen).length;
    if (changes === 0) return seen;
    requireFewChanges(changes, request.groupUid);
    const discovered = await discover(seen, options);
    const services: ServicesOf = (joined) => changingServices(joined, discovered);
    // The execution gives new resources their uids, so a plan is executed once.
    let isUnused = true;
    const attempt = (isConcurrent: boolean) =>
      callTogether(services, { request, changes }, call, async (joined) => {
        const { session } = joined.database;
        const isCurrent = isUnused && (await versionOf(session, request.groupUid)) === seen.version;
        isUnused = false;
        const plan = isCurrent ? seen : await makePlan(session, request, call, newYield());
        requireExpected(request, plan.fingerprint);
        await executePlan(plan, { ...joined, isConcurrent }, call);
        return plan;
      });
    return await attemptTogether(database.dialect, attempt);
  };
}

/** Discovery documents are fetched before the transaction, which must not wait for other servers. */
async function discover({ steps }: Plan, options: ProviderOptions): Promise<ProviderOptions> {
  const issuers = steps.flatMap(({ resource, fields }) =>
    resource.case === "identityProvider" && fields.some(({ field }) => field === "oidc.pkce_enabled")
      ? [resource.value.oidc?.issuer ?? ""]
      : [],
  );
  const found = new Map<string, ReturnType<ProviderOptions["discover"]>>();
  for (const issuer of new Set(issuers)) found.set(issuer, options.discover(issuer));
  await Promise.all(found.values());
  return { ...options, discover: async (issuer) => await found.get(issuer) };
}
