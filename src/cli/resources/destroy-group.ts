// `delete --recursive` of a group: shows what is in it, asks for its name, and deletes it with everything.
import { ApplyService, type DestroySubtreeResponse } from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { compareTexts } from "../../base/compare-texts.ts";
import { confirmName } from "../client/prompt.ts";
import type { Session } from "../client/session.ts";
import { printable } from "../escape.ts";
import { findUid } from "./lookup.ts";
import type { Resource } from "./resource.ts";

/** Deletes one group with everything in it and its subgroups, in one transaction. */
export async function destroyGroup(session: Session, resource: Resource, name: string, yes: boolean): Promise<void> {
  const { shell, output } = session;
  const groupUid = await findUid(session, resource, name);
  const client = await session.client(ApplyService);
  if (!yes) {
    const planned = await client.destroySubtree({ groupUid, validateOnly: true });
    for (const line of countLines(planned)) shell.stderr.write(`${line}\n`);
    const question = `Delete ${resource.noun} ${name} with everything in it?`;
    await confirmName(shell, question, "All of this is deleted, and cannot be brought back.", name);
    await client.destroySubtree({ groupUid, expectedPlan: planned.plan });
  } else {
    const done = await client.destroySubtree({ groupUid });
    if (output.format !== "none") for (const line of countLines(done)) shell.stderr.write(`${line}\n`);
  }
  if (output.format === "id") shell.stdout.write(`${groupUid}\n`);
  else if (output.format === "name") shell.stdout.write(`${printable(name)}\n`);
  else if (output.format !== "none")
    shell.stderr.write(`Deleted ${resource.noun} ${groupUid} with everything in it.\n`);
}

function countLines({ counts }: DestroySubtreeResponse): string[] {
  const kinds = Object.entries(counts).sort(([a], [b]) => compareTexts(a, b));
  return kinds.map(([kind, count]) => printable(`- ${count} ${nounOf(kind, Number(count))}`));
}

function nounOf(kind: string, count: number): string {
  const plural = kind.replaceAll("_", " ");
  return count === 1 ? plural.replace(/ies$/, "y").replace(/s$/, "") : plural;
}
