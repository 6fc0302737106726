// Writes the changes of a request in one transaction.
import type { ApplyResourcesRequest } from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { ApiError } from "../../aip/errors.ts";
import type { Call } from "../../pipeline/call.ts";
import type { Implementation } from "../../pipeline/handlers.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import { subscriptions } from "../events/subscriptions.ts";
import { accountAssociations } from "../iam/accounts/account-associations.ts";
import { groups } from "../iam/groups/groups.ts";
import { identities } from "../iam/identities/identities.ts";
import { groupInvites } from "../iam/invites/group-invites.ts";
import { externalGroupRoleMappings } from "../iam/providers/external-group-role-mappings.ts";
import { identityProviders, type ProviderOptions } from "../iam/providers/identity-providers.ts";
import { roleBindings } from "../iam/roles/role-bindings.ts";
import { roles } from "../iam/roles/roles.ts";
import { repos } from "../registry/repos.ts";
import { executePlan } from "./execute.ts";
import { callTogether, requireExpected } from "./joined-calls.ts";
import { makePlan, type Plan } from "./plan.ts";

/** Returns the services that an apply and a deletion call. */
export function changingServices(context: ServiceContext, options: ProviderOptions): readonly Implementation[] {
  return [
    ...[groups(context), roles(context), identities(context), identityProviders(context, options)],
    ...[externalGroupRoleMappings(context), accountAssociations(context), repos(context)],
    ...[roleBindings(context), subscriptions(context), groupInvites(context)],
  ];
}

/** Returns the function that makes the plan of a request again in a transaction, executes it there, and returns it. */
export function planWriter(context: ServiceContext, options: ProviderOptions) {
  return async (request: ApplyResourcesRequest, seen: Plan, call: Call): Promise<Plan> => {
    const isPostgres = context.database.dialect === "postgres";
    const discovered = await discover(seen, options);
    const services = (of: ServiceContext) => changingServices(of, discovered);
    const attempt = (isConcurrent: boolean) =>
      callTogether({ context, services }, request, call, async (joined) => {
        const plan = await makePlan(joined.database.session, request, call);
        requireExpected(request, plan.fingerprint);
        await executePlan(plan, { ...joined, isConcurrent }, call);
        return plan;
      });
    try {
      return await attempt(isPostgres);
    } catch (error) {
      // Shared statements do not say which resource failed.
      if (error instanceof ApiError || !isPostgres) throw error;
      return await attempt(false);
    }
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
