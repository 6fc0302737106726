// The tenants of an emulator: each is an organization, with a token of its owner and issuers.
import { notFound } from "../../aip/errors.ts";
import { ownerRole } from "../../authz/built-in-roles.ts";
import type { Clock } from "../../base/clock.ts";
import { createOrganization } from "../../services/iam/bootstrap.ts";
import { issueOwnerToken } from "../owner-token.ts";
import type { UnopenedServer } from "../start-hooks.ts";
import type { EmulatedIssuers } from "./issuers.ts";

/** The subject of tokens of the generic issuer that may assume the owner. */
const ownerSubject = "owner";

/** A tenant. */
export interface Tenant {
  /** Its number, which is in the addresses of its issuers. */
  readonly tenant: string;
  readonly groupUid: string;
  readonly ownerUid: string;
}

/** An API token, and when it expires. */
interface OwnerToken {
  readonly token: string;
  readonly expireTime: string;
}

/** The tenants of an emulator. */
export interface Tenants {
  create(name: string | undefined, requestId: string): Promise<Tenant & OwnerToken & { readonly issuers: object }>;
  /** Throws NOT_FOUND. */
  require(tenant: string): Tenant;
  /** Issues a token of the owner. */
  issue(tenant: Tenant): Promise<OwnerToken>;
}

/** The dependencies of the tenants. */
export interface TenantsOptions extends Pick<UnopenedServer, "database" | "tokens" | "policy"> {
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly issuers: Pick<EmulatedIssuers, "urlsOf">;
}

/** Returns no tenants yet. */
export function newTenants(options: TenantsOptions): Tenants {
  const { database, baseUrl, clock, issuers } = options;
  const tenants = new Map<string, Tenant>();
  let made = 0;
  const ownerOf = (tenant: string) => ({ issuer: issuers.urlsOf(tenant).generic, subject: ownerSubject });
  async function issue({ tenant, ownerUid }: Tenant): Promise<OwnerToken> {
    const request = { ownerUid, owner: ownerOf(tenant), baseUrl, audience: baseUrl };
    const { token, expiresAt } = await issueOwnerToken(options, request);
    return { token, expireTime: new Date(expiresAt).toISOString() };
  }
  return {
    async create(name, requestId) {
      const number = String(++made);
      const context = { actor: "", method: "emulator", requestId, time: clock() };
      const organization = await database.write(context, (tx) =>
        createOrganization(tx, name ?? `tenant-${number}`, ownerOf(number), [ownerRole]),
      );
      const tenant = { tenant: number, ...organization };
      tenants.set(number, tenant);
      return { ...tenant, ...(await issue(tenant)), issuers: issuers.urlsOf(number) };
    },
    require(tenant) {
      const found = tenants.get(tenant);
      if (!found) throw notFound("tenant", tenant);
      return found;
    },
    issue,
  };
}
