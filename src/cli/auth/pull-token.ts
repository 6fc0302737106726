// Pull tokens: creates an identity with a key generated here, and a token signed with this key. The server never sees
// the private key. Deleting the identity revokes the token.
import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import type { JsonObject } from "@bufbuild/protobuf";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { maxStaticKeysAge } from "../../sts/static-keys-expiry.ts";
import type { Session } from "../client/session.ts";
import { wrongUsage } from "../failure.ts";
import type { View } from "../output/view.ts";
import { seconds } from "../resources/flags.ts";
import { groups } from "../resources/groups.ts";
import { identities } from "../resources/identities.ts";
import { textAt } from "../resources/json.ts";
import { findUid, listAll } from "../resources/lookup.ts";
import { standardMethod } from "../resources/methods.ts";
import { withNames } from "../resources/path-names.ts";
import { roleBindings } from "../resources/role-bindings.ts";
import { roles } from "../resources/roles.ts";
import { confirmSibling } from "../resources/siblings.ts";
import { checkDockerConfig, saveLogin } from "./docker-config.ts";

/** The flags of `auth pull-token`. */
export interface PullTokenFlags {
  readonly parent?: string;
  readonly name?: string;
  readonly yes?: boolean;
  readonly description?: string;
  readonly ttl: string;
  readonly save?: boolean;
}

/** Distinguishes identities of pull tokens from others with static keys. */
const issuerPrefix = "https://pulltoken.";
const role = "registry.pull";
/** The maximum lifetime, in seconds. */
const maxLifetime = maxStaticKeysAge / 1000;

const pullTokenView: View = {
  noun: "pull tokens",
  columns: [
    { title: "name", value: "name" },
    { title: "uid", value: "uid" },
    { title: "expires", value: "staticKeys.expirationTime" },
  ],
};

/** Creates a pull token in a group, and prints how to sign in with it. */
export async function createPullToken(session: Session, flags: PullTokenFlags): Promise<void> {
  // Check everything before the identity exists: a failure afterwards would leave an identity without a token.
  const host = registryHost(session, flags);
  const expiresAt = Date.now() + lifetime(flags) * 1000;
  const parent = await findGroup(session, flags.parent);
  const roleUid = await findUid(session, roles, role);
  if (flags.name !== undefined)
    await confirmSibling(session, identities, { name: flags.name, parent, yes: flags.yes === true });
  const name = flags.name ?? `pull-token-${randomBytes(4).toString("hex")}`;
  const issuer = issuerOf(session.issuer);
  const { issuerKeys, sign } = await newKeys();
  const expires = new Date(expiresAt).toISOString();
  const identity = await session.call((await standardMethod(identities, "Create")).method, {
    parent,
    identity: {
      name,
      description: flags.description ?? "Pull token",
      staticKeys: { issuer, subject: name, issuerKeys, expirationTime: expires },
    },
  });
  const uid = textAt(identity, "uid");
  await session.call((await standardMethod(roleBindings, "Create")).method, {
    parent,
    roleBinding: { identityUid: uid, roleUid },
  });
  const claims = { iss: issuer, sub: name, aud: session.issuer, exp: Math.floor(expiresAt / 1000) };
  await show(session, flags, host, { uid, name, expires, token: await sign(claims) });
}

/**
 * Returns the issuer of the tokens: a subdomain of the server. An IP address is turned into a name, because addresses
 * have no subdomains.
 */
function issuerOf(address: string): string {
  const host = new URL(address).hostname.replace(/^\[|\]$/g, "");
  return `${issuerPrefix}${isIP(host) ? `ip-${host.replace(/[.:]/g, "-")}` : host}`;
}

/**
 * Returns the registry's host if it is configured. `--save` requires it, and a configuration file that can be changed.
 */
function registryHost({ config, shell }: Session, { save }: PullTokenFlags): string | undefined {
  const host = config["platform.registry"];
  if (save && host === undefined) throw noRegistry();
  if (save) checkDockerConfig(shell);
  return host;
}

/** Seconds. */
function lifetime({ ttl }: PullTokenFlags): number {
  const found = seconds(ttl);
  if (found <= maxLifetime) return found;
  throw wrongUsage(`a pull token is valid for ${maxLifetime / 3600}h at most, not for ${ttl}`);
}

/** Generates a key pair: the public key as a JSON Web Key Set, and the private key for signing. */
async function newKeys() {
  const { publicKey, privateKey } = await generateKeyPair("RS256");
  const kid = randomBytes(8).toString("hex");
  const keys = [{ ...(await exportJWK(publicKey)), kid, alg: "RS256", use: "sig" }];
  const sign = (claims: JWTPayload) =>
    new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid }).setIssuedAt().sign(privateKey);
  return { issuerKeys: JSON.stringify({ keys }), sign };
}

/** Lists pull tokens; expired ones only if requested. */
export async function listPullTokens(session: Session, expired: boolean): Promise<void> {
  const rows = await listAll(session, identities, { relationshipType: "RELATIONSHIP_TYPE_STATIC" });
  const kept = rows.filter(({ staticKeys }) => {
    const { issuer, expirationTime } = staticKeys as JsonObject;
    return String(issuer).startsWith(issuerPrefix) && Date.parse(String(expirationTime)) <= Date.now() === expired;
  });
  const view = await withNames(session, identities, pullTokenView, kept);
  await session.output.list(view, session.output.arrange(view, kept));
}

async function show(
  session: Session,
  { save }: PullTokenFlags,
  host: string | undefined,
  made: JsonObject & { uid: string; token: string },
): Promise<void> {
  if (save && host !== undefined) saveLogin(session.shell, host, made.uid, made.token);
  if (!session.output.isPlain) {
    const view = await withNames(session, identities, pullTokenView, [made]);
    return await session.output.one(view, { ...made });
  }
  const command = `docker login ${host ?? "REGISTRY"} --username "${made.uid}" --password "${made.token}"`;
  session.shell.stdout.write(`${command}\n`);
}

async function findGroup(session: Session, text: string | undefined): Promise<string> {
  const group = text ?? session.config["default.group"];
  if (group !== undefined) return await findUid(session, groups, group);
  throw wrongUsage("the pull token needs a group to pull from", "Name it with --parent, or set default.group.");
}

/** Returns the error for a registry that is not configured. */
export function noRegistry() {
  return wrongUsage(
    "which registry is not known",
    "Name it once for all: `gatehouse config set platform.registry HOST`.",
  );
}
