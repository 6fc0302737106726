// How far the wizard has come with the identity that it has created. A reload, and a new sign-in of the same person, come back to it.
import { useState } from "react";
import { keep, kept } from "../../shell/draft.ts";
import type { KindId, Values } from "./wizard-kinds.ts";
import type { Task } from "./wizard-script.ts";

/** The identity that was created, and its origin. There is no secret in it: the browser keeps no private key. */
export interface Progress {
  readonly uid: string;
  readonly name: string;
  readonly kind: KindId;
  readonly values: Values;
  /** The id of the task that it has got a role for; empty until that is decided. */
  readonly task: Task["id"] | "none" | "";
}

const shape: Progress = { uid: "", name: "", kind: "github", values: {}, task: "" };

/**
 * Returns the progress of the identity that the address names, and what notes it. Only the uid is in the address: anyone can make a link,
 * and its values would end up in what people copy and run.
 */
export function useProgress(uid: string | undefined): readonly [Progress | undefined, (progress: Progress) => void] {
  const [noted, setNoted] = useState(() => (uid === undefined ? undefined : kept(nameOf({ uid }), shape)));
  const note = (progress: Progress) => {
    keep(nameOf(progress), progress);
    setNoted(progress);
  };
  return [noted?.uid === uid ? noted : undefined, note];
}

/** Forgets it, once the wizard is done. */
export function forgetProgress(progress: Progress): void {
  keep(nameOf(progress), undefined);
}

function nameOf({ uid }: Pick<Progress, "uid">): string {
  return `wizard ${uid}`;
}
