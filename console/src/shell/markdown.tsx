// Renders Markdown as elements of React: no HTML of the author reaches the page.
import MarkdownIt from "markdown-it";
import { createElement, Fragment, type ReactNode } from "react";
import { useTexts } from "../texts/texts.ts";
import styles from "./markdown.module.css";

const markdown = new MarkdownIt({ html: false, linkify: false });
type Token = ReturnType<typeof markdown.parse>[number];

/** The elements of Markdown. Headings of a text are below those of the view. */
const elements: Readonly<Record<string, string>> = {
  h1: "h3",
  h2: "h4",
  h3: "h5",
  h4: "h6",
  h5: "h6",
  h6: "h6",
  ...Object.fromEntries(
    "p ul ol li blockquote strong em s table thead tbody tr th td".split(" ").map((name) => [name, name]),
  ),
};

/** A text in Markdown. Pictures are links: the page loads nothing from elsewhere. */
export function Markdown({ text }: { readonly text: string }) {
  const { t } = useTexts();
  const pictureOf = (name: string) => t("text.picture", { name });
  return <div className={styles.markdown}>{elementsOf(markdown.parse(text, {}), pictureOf)}</div>;
}

interface Open {
  readonly token: Token;
  readonly children: ReactNode[];
}

function elementsOf(tokens: readonly Token[], pictureOf: (name: string) => string): ReactNode[] {
  const root: ReactNode[] = [];
  const stack: Open[] = [];
  tokens.forEach((token, key) => {
    const children = stack.at(-1)?.children ?? root;
    if (token.nesting === 1) stack.push({ token, children: [] });
    else if (token.nesting === -1) {
      const opened = stack.pop();
      if (opened) (stack.at(-1)?.children ?? root).push(elementOf(opened, key));
    } else children.push(<Fragment key={key}>{leafOf(token, pictureOf)}</Fragment>);
  });
  return root;
}

function elementOf({ token, children }: Open, key: number): ReactNode {
  if (token.tag === "a") return linkOf(token.attrGet("href") ?? "", children, key);
  // A paragraph in a tight list.
  if (token.hidden) return <Fragment key={key}>{children}</Fragment>;
  return createElement(elements[token.tag] ?? "span", { key }, ...children);
}

function leafOf(token: Token, pictureOf: (name: string) => string): ReactNode {
  switch (token.type) {
    case "inline":
      return elementsOf(token.children ?? [], pictureOf);
    case "image":
      return linkOf(token.attrGet("src") ?? "", [pictureOf(token.content)], 0);
    case "code_inline":
      return <code>{token.content}</code>;
    case "fence":
    case "code_block":
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: WCAG 2.1.1: what scrolls is reachable by keyboard.
        <pre tabIndex={0}>
          <code>{token.content}</code>
        </pre>
      );
    case "softbreak":
      return "\n";
    case "hardbreak":
      return <br />;
    case "hr":
      return <hr />;
    default:
      return token.content;
  }
}

/** A link to the web. Other addresses, such as parts of a source repository, lead nowhere from here. */
function linkOf(address: string, children: readonly ReactNode[], key: number): ReactNode {
  if (!/^(?:https?:\/\/|mailto:)/i.test(address)) return <Fragment key={key}>{children}</Fragment>;
  return (
    <a key={key} href={address} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}
