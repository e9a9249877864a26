import { AppError } from '@croft/protocol';

/** Deeper than any sensible body. Later code walks bodies recursively. */
const maxDepth = 64;

/** Parses the body. Without a body, returns an empty object. */
export async function readJsonBody(request: Request): Promise<unknown> {
  const text = decode(await request.arrayBuffer());
  if (text.trim() === '') return {};
  if (isDeeperThan(text, maxDepth)) throw invalid(`nested deeper than ${maxDepth} levels`);
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw invalid(thrown instanceof Error ? thrown.message : 'not JSON');
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decode(bytes: ArrayBuffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalid('not UTF-8');
  }
}

/** Checks the nesting in the text, before anything is parsed. The result does not matter for text that is not JSON. */
function isDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length && depth <= limit; at += 1) {
    if (text[at] === '"') at = endOfString(text, at);
    else depth += stepOf(text[at]);
  }
  return depth > limit;
}

/** Returns where the string that begins at `start` ends. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  return text.length;
}

function stepOf(character: string | undefined): number {
  if (character === '{' || character === '[') return 1;
  return character === '}' || character === ']' ? -1 : 0;
}

function invalid(reason: string): AppError {
  return new AppError('E_INVALID_INPUT', `Invalid request JSON: ${reason}`);
}
