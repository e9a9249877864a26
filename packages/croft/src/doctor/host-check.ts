/** `missing`: no sandbox can be opened without it. `weaker`: sandboxes open, and the row names what they lack. */
export type CheckState = 'holds' | 'weaker' | 'missing';

export interface HostFix {
  /** The fix, and why an easier one would not do. */
  readonly say: string;
  /** A command to paste into a shell, or a text to paste into the file that `say` names. */
  readonly run?: string;
}

/** One row of the table. `fix` is absent if the fix of another row solves this one too. */
export interface HostCheck {
  readonly name: string;
  readonly state: CheckState;
  readonly found: string;
  readonly fix?: HostFix;
}

export function holds(name: string, found: string): HostCheck {
  return { name, state: 'holds', found };
}

export function weaker(name: string, found: string, fix?: HostFix): HostCheck {
  return { name, state: 'weaker', found, ...(fix && { fix }) };
}

export function missing(name: string, found: string, fix?: HostFix): HostCheck {
  return { name, state: 'missing', found, ...(fix && { fix }) };
}
