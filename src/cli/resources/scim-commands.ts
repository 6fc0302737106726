// `gatehouse iam scim-tokens`: the SCIM tokens of identity providers.
import type { JsonObject } from "@bufbuild/protobuf";
import { Argument, type Command, Option } from "commander";
import { completing } from "../client/completing.ts";
import { openSession, type Session, withClient } from "../client/session.ts";
import { narrowFormats } from "../output/formats.ts";
import type { View } from "../output/view.ts";
import type { Shell } from "../shell.ts";
import { duration, endOf } from "./flags.ts";
import { identityProviders } from "./identity-providers.ts";
import { textAt } from "./json.ts";
import { namesOf } from "./names.ts";

const view: View = {
  noun: "SCIM tokens",
  id: "identityProviderUid",
  columns: [
    { title: "identity provider", value: "identityProviderUid" },
    { title: "state", value: ({ credentialState }) => constantText(credentialState, "CREDENTIAL_STATE_") },
    { title: "enabled", value: "enabled" },
    { title: "expires", value: "expireTime" },
    { title: "previous expires", value: "previousTokenExpireTime" },
    { title: "endpoint", value: "endpointUrl" },
    // Only the responses of create and rotate contain it.
    { title: "token", value: "token" },
  ],
};

interface TokenFlags {
  readonly ttl?: string;
  readonly neverExpires?: boolean;
  readonly overlap?: string;
  readonly yes?: boolean;
}

/** Calls the method of an action, and returns the output. */
type Act = (session: Session, provider: JsonObject, flags: TokenFlags) => Promise<JsonObject>;

interface Action {
  readonly description: string;
  readonly options?: readonly Option[];
  readonly act: Act;
}

const lifetimes = () => [
  new Option("--ttl <time>", "lifetime, such as 720h; by default a year").conflicts("neverExpires"),
  new Option("--never-expires", "the token is valid until it is revoked or replaced"),
];

const actions: Readonly<Record<string, Action>> = {
  describe: {
    description: "show the token of an identity provider, without the token itself",
    act: async (_session, { uid = "", scim }) => {
      const { tokenExpireTime, ...state } = (scim ?? {}) as JsonObject;
      return {
        identityProviderUid: uid,
        ...state,
        ...(tokenExpireTime !== undefined && { expireTime: tokenExpireTime }),
      };
    },
  },
  create: {
    description: "create the token of an identity provider, and print it",
    options: lifetimes(),
    act: (session, { uid }, flags) =>
      call(session, "generateScimToken", { identityProviderUid: uid!, ...expiryOf(flags) }),
  },
  rotate: {
    description: "create another token, and print it; the old one stays valid for a while",
    options: [...lifetimes(), new Option("--overlap <time>", "how long the old token stays valid; by default an hour")],
    act: (session, provider, flags) =>
      call(session, "regenerateScimToken", {
        ...withEtag(provider),
        ...expiryOf(flags),
        ...(flags.overlap !== undefined && { overlap: duration(flags.overlap) }),
      }),
  },
  revoke: {
    description: "revoke the token of an identity provider",
    options: [new Option("-y, --yes", "do not ask")],
    async act(session, { uid, name }, { yes }) {
      const { confirm } = await import("../client/prompt.ts");
      await confirm(session.shell, `Revoke the SCIM token of identity provider ${name ?? uid}?`, yes);
      return await call(session, "revokeScimToken", { identityProviderUid: uid! });
    },
  },
  enable: {
    description: "enable the token",
    act: (session, provider) => call(session, "setScimEnabled", { ...withEtag(provider), enabled: true }),
  },
  disable: {
    description: "disable the token without deleting it",
    act: (session, provider) => call(session, "setScimEnabled", { ...withEtag(provider), enabled: false }),
  },
};

/** Adds the commands to those of IAM. */
export function addScimCommands(iam: Command, shell: Shell): void {
  const tokens = iam.command("scim-tokens").description(`SCIM tokens: ${Object.keys(actions).join(", ")}`);
  for (const [name, { description, options = [], act }] of Object.entries(actions)) {
    const provider = new Argument("<name|uid>", "the identity provider");
    const command = tokens.command(name).description(description);
    command.addArgument(completing(provider, namesOf(identityProviders)));
    for (const option of options) command.addOption(option);
    withClient(command, narrowFormats).action(async (text: string) => {
      using session = await openSession(shell, command);
      const { getResource } = await import("./verbs.ts");
      const found = await getResource(session, identityProviders, text);
      const uidOf = (row: JsonObject) => textAt(row, "identityProviderUid");
      const named = await (await import("./path-names.ts")).withNames(session, identityProviders, view, [found], uidOf);
      await session.output.one(named, await act(session, found, command.opts<TokenFlags>()));
    });
  }
}

function expiryOf({ ttl, neverExpires }: TokenFlags): JsonObject {
  if (neverExpires) return { neverExpires };
  return ttl === undefined ? {} : { expireTime: endOf(ttl) };
}

/** Returns the provider and its etag, so of two concurrent changes one fails. */
function withEtag({ uid = "", scim }: JsonObject): JsonObject {
  return { identityProviderUid: uid, etag: textAt((scim ?? {}) as JsonObject, "etag") };
}

async function call(
  session: Session,
  method: "generateScimToken" | "regenerateScimToken" | "revokeScimToken" | "setScimEnabled",
  request: JsonObject,
): Promise<JsonObject> {
  const { IdentityProvidersService } = await import(
    "../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts"
  );
  return await session.call(IdentityProvidersService.method[method], request);
}

function constantText(value: unknown, prefix: string): string {
  return String(value ?? "")
    .replace(prefix, "")
    .toLowerCase()
    .replaceAll("_", "-");
}
