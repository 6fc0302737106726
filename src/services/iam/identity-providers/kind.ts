import { create, type JsonObject } from "@bufbuild/protobuf";
import {
  IdentityProviderSchema,
  IdentityProvidersService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import { IdentityProviderSpecSchema } from "../../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { identityProviderCollection } from "../../../storage/iam/collections.ts";
import { type ChangedSpec, defineKind } from "../../kinds/kind.ts";
import type { KindOptions } from "../../kinds/kind-options.ts";
import { missingRole } from "../../kinds/missing.ts";
import type { SpecOf } from "../../kinds/spec.ts";
import { recordedProviders } from "./events.ts";
import { identityProviders, providerMessage } from "./identity-providers.ts";
import { identityProviderImport } from "./import.ts";

/** Identity providers. */
export const identityProviderKind = defineKind({
  name: "identityProvider",
  schema: IdentityProviderSchema,
  service: IdentityProvidersService,
  collection: identityProviderCollection,
  implement: identityProviders,
  transfer: [identityProviderImport],
  recorded: recordedProviders,
  file: {
    references: ["role"],
    isTarget: true,
    groupOf: () => "",
    missing: ({ defaultRole }, names) => missingRole("default_role", defaultRole, "", names),
    toSpec(row, names) {
      const { name, description, defaultRole, configuration } = providerMessage(row);
      return create(IdentityProviderSpecSchema, {
        name,
        description,
        defaultRole: names.roleReference("", defaultRole),
        oidc: configuration.value,
      });
    },
    toMessage({ name, description, defaultRole, oidc }, uids, hasSecret) {
      const configuration = oidc && { case: "oidc", value: hasSecret ? oidc : { ...oidc, clientSecret: "" } };
      return { name, description, defaultRole: uids.role("", defaultRole), ...(configuration && { configuration }) };
    },
    comparable: comparedOneByOne,
    // The last owner may sign in by it.
    deletedAfter: "identity",
    secret: { field: "oidc.client_secret", boundTo: "oidc.issuer", of: ({ oidc }) => oidc?.clientSecret ?? "" },
    prepare: discoverAll,
  },
});

/** The fields of the configuration are compared one by one. The secret is not: nobody can read the stored one. */
function comparedOneByOne({ oidc = {}, ...rest }: JsonObject): JsonObject {
  const { client_secret: _, ...configuration } = oidc as JsonObject;
  return {
    ...rest,
    ...Object.fromEntries(Object.entries(configuration).map(([name, value]) => [`oidc.${name}`, value])),
  };
}

/** Fetches the discovery documents of issuers whose support of PKCE is checked. */
async function discoverAll(
  changes: readonly ChangedSpec<SpecOf<"identityProvider">>[],
  options: KindOptions,
): Promise<KindOptions> {
  const asked = changes.filter(({ fields }) => fields.includes("oidc.pkce_enabled"));
  const found = new Map<string, ReturnType<KindOptions["discover"]>>();
  for (const issuer of new Set(asked.map(({ value }) => value.oidc?.issuer ?? "")))
    found.set(issuer, options.discover(issuer));
  await Promise.all(found.values());
  return { ...options, discover: async (issuer) => await found.get(issuer) };
}
