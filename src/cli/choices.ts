// Flags and arguments with a fixed set of values.
import { type Command, InvalidArgumentError } from "commander";
import { didYouMean } from "../base/similar.ts";

/** Lets a command read its choices in any case and with - for _, and suggest one for a misspelt value. */
export function readChoices({ options, registeredArguments }: Command): void {
  for (const option of options) if (option.argChoices) option.argParser(readerOf(option.argChoices));
  for (const argument of registeredArguments)
    if (argument.argChoices) argument.argParser(readerOf(argument.argChoices));
}

function readerOf(choices: readonly string[]): (value: string) => string {
  return (value) => choiceOf(value, choices);
}

/** Returns the choice in its first spelling. */
function choiceOf(value: string, choices: readonly string[]): string {
  const plain = (text: string) => text.toLowerCase().replaceAll("_", "-");
  const found = choices.find((choice) => plain(choice) === plain(value));
  if (found !== undefined) return found;
  const suggestion = didYouMean(value, choices).replace(/^d/, "\n(D").replace(/\?$/, "?)");
  throw new InvalidArgumentError(`Allowed choices are ${choices.join(", ")}.${suggestion}`);
}
