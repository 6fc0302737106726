// Finds the subject of an access question: a group, or a repo in it.
import type { Session } from "../client/session.ts";
import { CommandFailure } from "../failure.ts";
import { groups } from "./groups.ts";
import { findUid, noSuchName } from "./lookup.ts";
import { repos } from "./repos.ts";

/** Returns the uid of a place: that of the group with a name, else of the repo with it. Any uid is its own. */
export async function findPlace(session: Session, text: string): Promise<string> {
  try {
    return await findUid(session, groups, text);
  } catch (error) {
    if (!(error instanceof CommandFailure) || error.reason !== noSuchName) throw error;
    return await findUid(session, repos, text).catch((ofRepo: unknown) => {
      if (!(ofRepo instanceof CommandFailure)) throw ofRepo;
      // A caller who may not list repos knows groups only.
      throw ofRepo.reason === noSuchName || ofRepo.status !== "" ? noPlace(text, error) : ofRepo;
    });
  }
}

function noPlace(text: string, ofGroup: CommandFailure): CommandFailure {
  return ofGroup.with({
    message: `there is no group or repo ${JSON.stringify(text)} that you can see`,
    hint: "See `gatehouse iam groups list` and `gatehouse images repos list`, or name it by its uid.",
  });
}
