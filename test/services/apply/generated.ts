// Generated organizations, as resources of an apply.
import type { JsonObject } from "@bufbuild/protobuf";

/** How many resources of each kind an organization has, besides itself and three of its kinds. */
export interface Size {
  readonly groups: number;
  readonly roles: number;
  readonly identities: number;
  readonly repos: number;
  readonly bindings: number;
}

/** A small organization that has each kind of resource, with references between all of them. */
export function smallOrganization(name: string): JsonObject[] {
  const person = "c0ffee".padEnd(40, "0");
  return [
    { organization: { name, description: "Anvils" } },
    { group: { name: "engineering", description: "Builders" } },
    { group: { group: "engineering", name: "platform" } },
    { role: { name: "deployer", capabilities: ["groups.list", "repo.list"], description: "May deploy" } },
    { role: { group: "engineering", name: "reader", capabilities: ["groups.list"] } },
    {
      identity: {
        group: "engineering",
        name: "ci",
        description: "The build",
        claimMatch: { issuer: "https://token.example.org", subjectPattern: "repo:acme/.*", claims: { env: "prod" } },
        pins: { policy: "NAME_POLICY_EXPLICIT", names: [{ kind: "project", name: "acme/app", id: "74" }] },
      },
    },
    { identity: { name: "ingester", servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" } },
    {
      identityProvider: {
        name: "login",
        defaultRole: "viewer",
        oidc: { issuer: "https://login.example.org", clientId: "acme", pkceEnabled: true, groupsClaim: "groups" },
      },
    },
    { externalGroupRoleMapping: { identityProvider: "login", externalGroupId: "admins", role: "deployer" } },
    {
      accountAssociation: {
        name: "clouds",
        amazon: { account: "123456789012" },
        serviceBindings: { INGESTER: "ingester" },
      },
    },
    { repo: { group: "engineering/platform", name: "api", description: "The API" } },
    { roleBinding: { group: "engineering/platform", identity: "engineering/ci", role: "deployer" } },
    { roleBinding: { group: "engineering", identity: "engineering/ci", role: "reader" } },
    { roleBinding: { group: "engineering", identityUid: person, role: "editor" } },
    { subscription: { group: "engineering", sink: "https://hooks.example.org/acme" } },
  ];
}

/** An organization of any size. */
export function largeOrganization(name: string, { groups, roles, identities, repos, bindings }: Size): JsonObject[] {
  const groupAt = (i: number): string => (i < 10 ? `group-${i}` : `${groupAt(i % 10)}/group-${i}`);
  const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);
  const parentOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf("/")));
  const paths = times(groups, groupAt);
  const at = (i: number) => paths[i % groups]!;
  return [
    { organization: { name } },
    ...paths.map((path) => ({ group: { group: parentOf(path), name: nameOf(path), description: `At ${path}` } })),
    ...times(roles, (i) => ({ role: { name: `role-${i}`, capabilities: ["groups.list", "repo.list"] } })),
    ...times(identities, (i) => ({
      identity: {
        group: at(i),
        name: `identity-${i}`,
        claimMatch: { issuer: "https://token.example.org", subject: `repo:acme/${i}` },
      },
    })),
    ...times(repos, (i) => ({ repo: { group: at(i), name: `repo-${i}`, description: "A repo" } })),
    ...times(bindings, (i) => {
      const identity = i % identities;
      const round = Math.floor(i / identities);
      return {
        roleBinding: { group: at(identity), identity: `${at(identity)}/identity-${identity}`, role: `role-${round}` },
      };
    }),
  ];
}

function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}
