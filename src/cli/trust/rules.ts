// The claim matches that commands check: those of identities, and those in files of `gatehouse apply`.
import { readFileSync } from "node:fs";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Session } from "../client/session.ts";
import { CommandFailure } from "../failure.ts";
import { identities } from "../resources/identities.ts";
import { textAt } from "../resources/json.ts";
import { findUid } from "../resources/lookup.ts";
import type { Shell } from "../shell.ts";

/** A claim match, and where it is from: the name of an identity, or a place in a file. */
export interface Rule {
  readonly place: string;
  /** The name of the identity. */
  readonly name: string;
  readonly claimMatch: JsonObject;
}

/** Returns the rule of an identity, which is given by its name or its uid, and the uid. */
export async function ruleOf(session: Session, text: string): Promise<Rule & { readonly uid: string }> {
  const { IdentitiesService } = await import("../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts");
  const uid = await findUid(session, identities, text);
  const identity = await session.call(IdentitiesService.method.getIdentity, { uid });
  const { claimMatch } = identity;
  if (!claimMatch) throw new CommandFailure(`${text} has no claim match: no token of an issuer can assume it`);
  const name = textAt(identity, "name");
  return { place: name || text, name, claimMatch: claimMatch as JsonObject, uid };
}

/** Returns the rules of the identities in files. */
export async function rulesIn(paths: readonly string[], shell: Shell): Promise<Rule[]> {
  const { findResourceFiles } = await import("../apply/resource-files.ts");
  const { readDocuments } = await import("../apply/documents.ts");
  const { toJson } = await import("@bufbuild/protobuf");
  const { ResourceSpecSchema } = await import("../../../gen/gatehouse/apply/v1/apply_pb.ts");
  const { files } = findResourceFiles(paths);
  // No secret is sent, so a file may name variables that are not set.
  const reading = { environment: shell.environment, onMissingVariable: () => {} };
  return files.flatMap((file) =>
    readDocuments(readFileSync(file === "-" ? 0 : file, "utf8"), file, reading).flatMap(({ place, resource }) => {
      const { identity = {} } = toJson(ResourceSpecSchema, resource) as { readonly identity?: JsonObject };
      const { claimMatch } = identity;
      const name = textAt(identity, "name");
      return claimMatch === undefined ? [] : [{ place, name, claimMatch: claimMatch as JsonObject }];
    }),
  );
}
