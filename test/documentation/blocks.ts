// The fenced blocks of a page, and what their info strings say about running them.

/** A fenced block. */
export interface Block {
  /** The first word of the info string, such as `sh`. */
  readonly language: string;
  /** The attributes behind it, such as `no-run="needs systemd"`. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly text: string;
  /** The line of the page on which the block begins. */
  readonly line: number;
}

/** A command of a `console` block, with the output that the page shows. */
export interface ShownCommand {
  readonly command: string;
  readonly output: string;
}

/** The attributes of an info string after the language; README.md in this folder explains them. */
const attributeNames = ["no-run", "needs", "background", "output-of", "person", "job", "eventually", "file"];

/** Reads the blocks of a page. Throws when an info string has an unknown attribute, or one without a value. */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  for (const match of page.matchAll(/^( *)```(\S*)([^\n]*)\n([\s\S]*?)^\1```$/gm)) {
    const [, indent = "", language = "", info = "", text = ""] = match;
    const line = page.slice(0, match.index).split("\n").length;
    const unindented = text
      .split("\n")
      .map((each) => (each.startsWith(indent) ? each.slice(indent.length) : each))
      .join("\n");
    blocks.push({ language, attributes: attributesOf(info, line), text: unindented, line });
  }
  return blocks;
}

function attributesOf(info: string, line: number): Map<string, string> {
  const attributes = new Map<string, string>();
  const rest = info.replace(/([a-z-]+)="([^"]+)"/g, (_whole, name: string, value: string) => {
    if (!attributeNames.includes(name)) throw new Error(`line ${line}: unknown attribute ${name}`);
    attributes.set(name, value);
    return "";
  });
  if (rest.trim() !== "") throw new Error(`line ${line}: cannot read ${rest.trim()}; write NAME="VALUE"`);
  return attributes;
}

/** Returns the commands of a `console` block. A command goes on after a backslash at the end of a line. */
export function shownCommands(text: string): ShownCommand[] {
  const commands: { command: string; output: string }[] = [];
  for (const line of text.split("\n")) {
    const last = commands.at(-1);
    if (line.startsWith("$ ")) commands.push({ command: line.slice(2), output: "" });
    else if (!last) throw new Error(`"${line}" comes before the first command; commands begin with "$ "`);
    else if (last.output === "" && last.command.endsWith("\\")) last.command += `\n${line}`;
    else last.output += `${line}\n`;
  }
  return commands.map(({ command, output }) => ({ command, output: output.trim() }));
}
