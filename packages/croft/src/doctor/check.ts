/** `missing` is what a sandbox cannot be without; `weaker` is said and lived with. */
export type State = 'holds' | 'weaker' | 'missing';

export interface Fix {
  /** What to do, and why that rather than something easier. */
  readonly say: string;
  /** To be pasted into a shell, or into the file that `say` names. */
  readonly run?: string;
}

/** One row of the table. Without a fix where another row's fix is the one. */
export interface Check {
  readonly name: string;
  readonly state: State;
  readonly found: string;
  readonly fix?: Fix;
}

export function holds(name: string, found: string): Check {
  return { name, state: 'holds', found };
}

export function weaker(name: string, found: string, fix?: Fix): Check {
  return { name, state: 'weaker', found, ...(fix && { fix }) };
}

export function missing(name: string, found: string, fix?: Fix): Check {
  return { name, state: 'missing', found, ...(fix && { fix }) };
}
