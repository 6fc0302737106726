// `gatehouse --version` without the program: plain JavaScript, because the launcher prints it on any Node.

/** Reports whether the arguments ask for the version and nothing else. */
export function asksForVersion(args) {
  return args.length === 1 && (args[0] === "--version" || args[0] === "-V");
}

/** Prints the version. Ends like any other command if it cannot be written (cli/shell.ts). */
export function printVersion(version) {
  process.stderr.on("error", () => {});
  process.stdout.on("error", (error) => {
    if (error.code === "EPIPE") process.exit(0);
    process.stderr.write(`gatehouse: the result cannot be written: ${error.message}\n`, () => process.exit(1));
  });
  process.stdout.write(`${version}\n`);
}
