import { createVisibleTextDecoder, type VisibleText } from '../text/visible-text.ts';
import { createSecretStream, markOf, type SecretFinder, type StreamPart } from './redaction-stream.ts';

/** Bytes that can be shown, and the names of the secrets whose marks are among them. */
export interface RedactedBytes {
  readonly bytes: Buffer;
  readonly names: readonly string[];
}

/** Redacts bytes that arrive in pieces. */
export interface ByteRedactionStream {
  /** Returns what can be shown by now. The rest may be the beginning of a secret, and is held back. */
  push(chunk: Buffer): RedactedBytes;
  /** Returns the rest: no more bytes come. */
  end(): RedactedBytes;
}

/**
 * Creates a stream that passes on bytes as they are, with marks in place of the secrets that their text has: a secret in
 * UTF-8, also one that is coloured in part.
 */
export function createByteRedactionStream(finder: () => SecretFinder): ByteRedactionStream {
  const decoder = createVisibleTextDecoder();
  const secrets = createSecretStream(finder);
  const waiting = createByteQueue();
  const push = (text: VisibleText) => {
    waiting.add(text);
    return toRedacted(secrets.push(text.text), waiting.take);
  };
  return {
    push: (chunk) => push(decoder.push(chunk)),
    end() {
      const last = push(decoder.end());
      const rest = toRedacted(secrets.end(), waiting.take);
      return { bytes: Buffer.concat([last.bytes, rest.bytes]), names: [...last.names, ...rest.names] };
    },
  };
}

function toRedacted(parts: readonly StreamPart[], take: (chars: number) => Buffer[]): RedactedBytes {
  const names = parts.flatMap((part) => (!part.isShown && part.name !== undefined ? [part.name] : []));
  const pieces = parts.flatMap((part) => {
    const bytes = take(part.chars);
    return part.isShown ? bytes : [Buffer.from(markOf(part.name))];
  });
  return { bytes: Buffer.concat(pieces), names };
}

/** Texts with their bytes, from which characters are taken in order. */
function createByteQueue() {
  const texts: VisibleText[] = [];
  /** Characters of the first text that are taken. */
  let taken = 0;
  return {
    add(text: VisibleText): void {
      if (text.text !== '') texts.push(text);
    },
    /** Takes the bytes of the next characters. */
    take(chars: number): Buffer[] {
      const pieces: Buffer[] = [];
      let left = chars;
      for (let first = texts[0]; first && left > 0; first = texts[0]) {
        const to = Math.min(taken + left, first.ends.length);
        pieces.push(first.bytes.subarray(endOf(first, taken - 1), endOf(first, to - 1)));
        left -= to - taken;
        taken = to < first.ends.length ? to : 0;
        if (taken === 0) texts.shift();
      }
      return pieces;
    },
  };
}

function endOf({ ends }: VisibleText, index: number): number {
  return ends[index] ?? 0;
}
