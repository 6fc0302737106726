import styles from "./trust.module.css";

interface ClaimListProps {
  readonly claims: Readonly<Record<string, string>>;
  /** The names of those to show; all without it. */
  readonly names?: readonly string[];
  /** Whether the values stand out. */
  readonly isMarked?: boolean;
}

/** The claims of a token. The issuer and the subject come first. */
export function ClaimList({ claims, names = Object.keys(claims), isMarked = false }: ClaimListProps) {
  const first = ["iss", "sub"].filter((name) => names.includes(name));
  return (
    <dl className={`facts small ${styles.claims}`}>
      {[...first, ...names.filter((name) => !first.includes(name)).sort()].map((name) => (
        <div key={name} className="contents">
          <dt>
            <code>
              <bdi>{name}</bdi>
            </code>
          </dt>
          <dd>
            <code className={isMarked ? styles.changed : undefined}>
              <bdi>{claims[name]}</bdi>
            </code>
          </dd>
        </div>
      ))}
    </dl>
  );
}
