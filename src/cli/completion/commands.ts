// Completion in bash, zsh and fish: the shell asks the program for candidates, so they are never out of date.
import type { Command } from "commander";
import type { Shell } from "../shell.ts";

const shells = ["bash", "zsh", "fish"] as const;

/** Adds `completion`, which prints the script for a shell, and the hidden command that the script calls. */
export function addCompletionCommands(program: Command, shell: Shell): void {
  const completion = program
    .command("completion")
    .description(`print the completion script of a shell: ${shells.join(", ")}`)
    .addHelpText(
      "after",
      "\nIn bash: source <(gatehouse completion bash)\nIn zsh, after compinit: source <(gatehouse completion zsh)\nIn fish: gatehouse completion fish | source",
    );
  completion.addArgument(completion.createArgument("<shell>").choices(shells)).action(async (name: string) => {
    if (name === "bash") {
      shell.stdout.write((await import("./bash.ts")).bashScript(program.name()));
      return;
    }
    const { script } = await import("@bomb.sh/tab");
    script(name as "zsh" | "fish", program.name(), program.name());
  });
  program
    .command("complete", { hidden: true })
    .argument("[words...]")
    .allowUnknownOption()
    .action(async (words: string[]) => {
      const { answerShell } = await import("./answer.ts");
      await answerShell(program, shell, words);
    });
}
