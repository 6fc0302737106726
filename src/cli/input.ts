// Input of a command: a file that a flag or an argument names, or standard input.
import { errorMessage } from "../base/system-error.ts";
import { readTextFile, readTextStream } from "../base/text-file.ts";
import { wrongUsage } from "./failure.ts";
import type { Shell } from "./shell.ts";

/** Returns the content of a file. Wrong usage if it cannot be read or is not UTF-8; `flag` is the flag that names it. */
export function readFile(file: string, flag = ""): string {
  try {
    return readTextFile(file);
  } catch (error) {
    throw cannotBeRead(flag === "" ? file : `${flag}: ${file}`, errorMessage(error, file));
  }
}

/** Returns the content of a file, or of standard input for `-`. Wrong usage if it cannot be read or is not UTF-8. */
export async function readInput({ stdin }: Shell, file: string): Promise<string> {
  if (file !== "-") return readFile(file);
  try {
    return await readTextStream(stdin);
  } catch (error) {
    throw cannotBeRead("standard input", errorMessage(error));
  }
}

function cannotBeRead(what: string, why: string): Error {
  return wrongUsage(`${what} cannot be read: ${why}`);
}
