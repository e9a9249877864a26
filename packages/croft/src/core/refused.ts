import { renderDenials } from './commands/denials.ts';
import { keyOf } from './commands/explain-denials.ts';
import type { Denial } from './commands/sandbox.ts';
import type { ToolResult } from './tool.ts';

/** What checks ran into is said after what they found, once each; what comes after the answer is an event all the same. */
export function collectRefused(violate: (denial: Denial) => void) {
  const denials = new Map<string, Denial>();
  const refused = (more: readonly Denial[]) => {
    for (const denial of more.filter((one) => !denials.has(keyOf(one)))) {
      denials.set(keyOf(denial), denial);
      violate(denial);
    }
  };
  const append = (result: ToolResult): ToolResult =>
    denials.size === 0 ? result : { ...result, text: `${result.text}\n${renderDenials([...denials.values()])}` };
  return { refused, append };
}
