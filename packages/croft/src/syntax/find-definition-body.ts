import type { BodyShape, SourceRange } from '../core/code/code-symbol.ts';
import type { FoundDefinition } from './collect-captures.ts';
import type { CommentsAndDecorators } from './comments-and-decorators.ts';

interface BodyOptions {
  /** Start of the declaration. */
  readonly declaration: number;
  /** End of the declaration, without a semicolon. */
  readonly codeEnd: number;
  /** How the language writes bodies. */
  readonly shape: BodyShape;
  readonly trivia: CommentsAndDecorators;
  /** Ordered by their start. */
  readonly docstrings: ReadonlyMap<number, SourceRange>;
}

interface ReadBody {
  readonly signatureEnd: number;
  readonly range?: SourceRange;
  readonly shape?: BodyShape;
  readonly docstring?: SourceRange | undefined;
}

/** Finds where the signature of a definition ends and what its body is, by offsets. */
export function findDefinitionBody(found: FoundDefinition, options: BodyOptions): ReadBody {
  const { declaration, codeEnd, shape, trivia } = options;
  const { body, isExpression } = found;
  if (body && isExpression) return { ...toBody(body.startIndex, body.endIndex, options), shape: 'expression' };
  if (shape === 'end') return readUpToEnd(found);
  if (!body || body.endIndex === body.startIndex) return { signatureEnd: trivia.codeEndBefore(codeEnd, declaration) };
  if (shape !== 'indented') return { ...toBody(body.startIndex, body.endIndex, options), shape };
  const start = trivia.commentsBefore(body.startIndex, found.name.endIndex);
  const docstring = options.docstrings.get(body.startIndex);
  return { ...toBody(start, body.endIndex, options), shape, docstring };
}

function toBody(start: number, end: number, { declaration, trivia }: BodyOptions) {
  return { signatureEnd: trivia.codeEndBefore(start, declaration), range: { start, end } };
}

function readUpToEnd({ node, name, params }: FoundDefinition): ReadBody {
  const signatureEnd = Math.max(name.endIndex, params?.endIndex ?? 0);
  if (!/\bend$/.test(node.text.slice(-8))) return { signatureEnd: node.endIndex };
  return { signatureEnd, range: { start: signatureEnd, end: node.endIndex }, shape: 'end' };
}
