// Identity providers: where the users of an organization sign in.
import { callbackPathOf } from "../../sign-in/sign-in.ts";
import { created, description, name, uid, updated } from "./columns.ts";
import { describing, named, renaming } from "./common-flags.ts";
import { fileOrSecret, list } from "./flags.ts";
import { textAt } from "./json.ts";
import type { Resource } from "./resource.ts";
import { roles } from "./roles.ts";

export const identityProviders: Resource = {
  path: "iam identity-providers",
  noun: "identity provider",
  type: "IdentityProvider",
  service: async () =>
    (await import("../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts")).IdentityProvidersService,
  verbs: ["list", "describe", "create", "update", "delete"],
  view: {
    noun: "identity providers",
    columns: [
      name,
      uid,
      { title: "issuer", value: "oidc.issuer" },
      { title: "client id", value: "oidc.clientId" },
      { title: "default role", value: "defaultRole", wide: true },
      { ...description, wide: true },
      created,
      updated,
    ],
  },
  // The redirect URI to register at the provider. It contains the issuer of the token, not the address in use.
  serverColumns: async (session) => {
    const { issuerOf } = await import("../client/credential.ts");
    const baseUrl = issuerOf((await session.credential()).token) ?? session.issuer;
    return [{ title: "redirect uri", value: (row) => baseUrl + callbackPathOf(textAt(row, "uid")) }];
  },
  argument: { name: "name", field: "name" },
  parent: "group",
  fields: [
    describing,
    renaming,
    { flags: "--oidc-issuer <url>", description: "issuer of the provider", field: "oidc.issuer" },
    { flags: "--oidc-client-id <id>", description: "what we are called there", field: "oidc.clientId" },
    {
      flags: "--oidc-client-secret <file|secret>",
      description: "our secret there; better in a file than on the command line",
      field: "oidc.clientSecret",
      read: fileOrSecret("--oidc-client-secret"),
    },
    {
      flags: "--oidc-additional-scopes <scopes>",
      description: "what is asked for besides openid, such as email,profile",
      field: "oidc.additionalScopes",
      read: list,
    },
    {
      flags: "--oidc-groups-claim <name>",
      description: "the claim that names people's groups",
      field: "oidc.groupsClaim",
    },
    { flags: "--oidc-pkce-enabled", description: "send a code challenge (RFC 7636)", field: "oidc.pkceEnabled" },
    {
      flags: "--default-role <name|uid>",
      description: "the role of everybody who signs in",
      field: "defaultRole",
      refersTo: () => roles,
    },
  ],
  filters: [named],
  exported: { toImported: ({ scim: _, ...provider }) => provider },
};
