// `gatehouse export`: writes the resources of a group as files for `gatehouse apply`.
import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { AccessService } from "../../../gen/gatehouse/access/v1/access_pb.ts";
import { ApplyService, type ResourceSpec } from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { errorMessage } from "../../base/system-error.ts";
import { writeWholeText } from "../advisories/whole-file.ts";
import { pageSize, readPages } from "../client/pages.ts";
import type { Session } from "../client/session.ts";
import { CommandFailure } from "../failure.ts";
import { groups } from "../resources/groups.ts";
import { findUid } from "../resources/lookup.ts";
import { note } from "../shell.ts";
import { type DocumentKind, documentKinds, documentText } from "./documents.ts";

/** Writes one file per kind, or everything to standard output. */
export async function exportResources(session: Session, name: string, directory: string | undefined): Promise<void> {
  const client = await session.client(ApplyService);
  const groupUid = await findUid(session, groups, name);
  const { resources } = await client.exportResources({ groupUid });
  const people = resources.some(namesPerson) ? await namesOfPeople(session, groupUid) : new Map<string, string>();
  const texts = new Map<DocumentKind, string[]>(documentKinds.map((kind) => [kind, []]));
  for (const resource of resources) {
    const { kind, text } = await documentText(resource, people);
    texts.get(kind)!.push(text);
  }
  if (directory === undefined) session.shell.stdout.write([...texts.values()].flat().join("---\n"));
  else await writeFiles(directory, texts);
  note(session.shell, `exported: ${resources.length} ${resources.length === 1 ? "resource" : "resources"}`);
  note(session.shell, "left out: uids, client secrets, SCIM tokens, invites, tags, images and advisories");
  // The files of an organization name it.
  if (groupUid.includes("/")) note(session.shell, `paths begin at this group: diff and apply need --group ${name}`);
}

/** The uid of a person has no parent; that of an identity elsewhere has one. */
function namesPerson({ resource }: ResourceSpec): boolean {
  return resource.case === "roleBinding" && /^[^/]+$/.test(resource.value.identityUid);
}

/** Returns the names of the people who hold roles at a group and below it, by uid. */
async function namesOfPeople(session: Session, group: string): Promise<ReadonlyMap<string, string>> {
  const client = await session.client(AccessService);
  const people = await readPages(
    (pageToken) => client.listPeople({ group, pageSize, pageToken }),
    (reply) => reply.people,
  );
  return new Map(
    people.map(({ identity }) => [
      identity!.uid,
      [identity!.name, identity!.email].filter((text) => text !== "").join(", "),
    ]),
  );
}

async function writeFiles(directory: string, texts: ReadonlyMap<DocumentKind, readonly string[]>): Promise<void> {
  try {
    mkdirSync(directory, { recursive: true });
    for (const [kind, documents] of texts) {
      const file = path.join(directory, `${fileName(kind)}.yaml`);
      // An apply of the directory must not create deleted resources again.
      if (documents.length === 0) rmSync(file, { force: true });
      else await writeWholeText(file, documents.join("---\n"));
    }
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw new CommandFailure(`${directory} cannot be written: ${errorMessage(error, directory)}`);
  }
}

/** Returns the name of the file of a kind: `role-bindings` for RoleBinding. */
function fileName(kind: DocumentKind): string {
  const words = kind.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase();
  if (kind === "Organization") return words;
  return words.endsWith("y") ? `${words.slice(0, -1)}ies` : `${words}s`;
}
