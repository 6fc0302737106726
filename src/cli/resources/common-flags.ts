// Flags that several kinds of resource share.
import type { Flag } from "./resource.ts";

export const describing: Flag = {
  flags: "-d, --description <text>",
  description: "description",
  field: "description",
};
export const renaming: Flag = { flags: "-n, --name <name>", description: "a new name", field: "name", only: "update" };
export const named: Flag = { flags: "--name <name>", description: "only those of this name", field: "name" };
