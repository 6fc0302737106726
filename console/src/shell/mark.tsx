/** The mark: a gate of two bars and a lintel. */
export function Mark() {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true">
      <path d="M1 2h14v3H1zM3 6h3v8H3zM10 6h3v8h-3z" />
    </svg>
  );
}
